// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/apply"
	"example.org/ibconsole/fabric/write"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing/changes/diff"
)

// wrote is what the last commit of a session wrote, so that later readings find what others write over it.
type wrote struct {
	journal int64          // its number, 0 for none
	tables  *fabric.Tables // what it was to write, nil where it wrote nothing
	before  *fabric.Tables // what the switches held
	left    map[lftBlock]bool
	noted   int // how many entries were found at the last reading
}

// lftBlock is a block of a switch.
type lftBlock struct {
	guid uint64
	num  uint16
}

// wroteBy is what a commit wrote.
func (c *commit) wroteBy(journal int64, rep *apply.Report) wrote {
	w := wrote{journal: journal, tables: c.st.Staged.Tables, before: c.st.Live.Tables, left: map[lftBlock]bool{}}
	for _, b := range rep.Left.Blocks {
		w.left[lftBlock{c.st.Live.Fabric.SwitchNode(b.Switch).GUID, b.Num}] = true
	}
	return w
}

// over are the entries of forwarding tables that others have written since. Of blocks that were not written
// for certain those count that are neither what they were nor what they were to become.
func (w *wrote) over(live *fabric.Tables) (found write.Conflicts) {
	if w.tables == nil || live == nil || !sameLIDsByGUID(w.tables.Fabric, live.Fabric) {
		return found
	}
	for e := range diff.Changes(w.tables, live) {
		n := live.Fabric.SwitchNode(e.SwitchNew)
		if w.left[lftBlock{n.GUID, e.LID / fabric.BlockSize}] {
			if sw := w.before.Fabric.SwitchByGUID(n.GUID); sw == fabric.None || w.before.Port(sw, e.LID) == e.New {
				continue
			}
		}
		found.Add(live.Fabric.NodeName(live.Fabric.Switches[e.SwitchNew]), n.GUID, fmt.Sprintf("LID %d", e.LID), e.Old,
			e.New, e.Old)
	}
	return found.AfterWriting()
}

// lookOver says, after a reading, what others have written over what the last commit of this session wrote, and notes
// it in the journal; "" where there is nothing new.
func (s *Session) lookOver(ctx context.Context, moved bool) (string, error) {
	found := s.wrote.over(s.State().Live.Tables)
	if found.Count == 0 || !moved && found.Count == s.wrote.noted {
		return "", nil
	}
	s.wrote.noted = found.Count
	o := Others{Conflicts: found}
	text := fmt.Sprintf("the switches do not hold what the last commit of this session wrote, %s: %s",
		prose.Count(found.Count, "entry"), o.Names(mostTold))
	if s.wrote.journal == 0 {
		return text, nil
	}
	store, err := s.History()
	if err == nil {
		err = store.NoteOthers(context.WithoutCancel(ctx), s.wrote.journal, found)
	}
	return text, err
}
