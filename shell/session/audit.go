// SPDX-License-Identifier: Apache-2.0

package session

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/audit"
)

// audit tells the log of the machine of a write to a subnet that is not simulated, or of a refused one. That there
// is no log is said once, and stops nothing.
func (s *Session) audit(r audit.Record, err error) {
	st := s.State()
	if s.opt.Log == nil || !st.Source.Live() {
		return
	}
	r.Subnet, r.Result, r.Failed = fabric.Escape(st.subnet()), "done", err != nil
	if err != nil {
		r.Result = fabric.Escape(err.Error())
	}
	if lerr := s.opt.Log(&r); lerr != nil {
		s.unlogged.Do(func() {
			s.Publish(ChangeLive, func(st *State) {
				text := "writes are in no log of this machine: " + fabric.Escape(lerr.Error())
				st.Unlogged = text
				st.Note("%s", text)
			})
		})
	}
}

// audited tells of a commit that was asked for, with what the switches held before it and hold after it.
func (c *commit) audited(err error) {
	if !c.opt.Yes || c.opt.DryRun || err == nil && c.rep.Written == nil {
		return
	}
	r := audit.Record{Action: "commit"}
	if c.opt.back {
		r.Action = "rollback"
	}
	switch {
	case c.st.Live == nil && err != nil:
		err = fmt.Errorf("%w; without hashes, as the switches were not read for it", err)
	case c.st.Live != nil:
		r.Before = tablesHash(c.st.Live.Tables)
		if !errors.Is(err, errPanicked) {
			r.After = tablesHash(c.State().Live.Tables)
		}
	}
	c.audit(r, err)
}

// errPanicked is why a commit ended that panicked. The panic goes on.
var errPanicked = errors.New("it ended in a panic, and what the switches hold now is not known")

// refused tells of a commit, or with back of a rollback, that was asked for and is refused before it begins, and
// returns why.
func (s commits) refused(opt CommitOptions, back bool, err error) error {
	opt.back = back
	(&commit{Session: s.Session, opt: opt}).audited(err)
	return err
}

// tablesHash is the same for the same forwarding tables: of each switch its GUID, its LinearFDBTop and the entries up
// to that. It is "" for none. O(switches x LIDs).
func tablesHash(t *fabric.Tables) string {
	if t == nil {
		return ""
	}
	h := sha256.New()
	for i := range t.Fabric.NumSwitches() {
		if !t.Known[i] {
			continue
		}
		head := binary.BigEndian.AppendUint64(nil, t.Fabric.SwitchNode(i).GUID)
		row := t.LFT.Row(i)
		end := min(len(row), int(t.Top[i])+1)
		_, _ = h.Write(slices.Concat(binary.BigEndian.AppendUint16(head, t.Top[i]), row[:end])) // never fails
	}
	return hex.EncodeToString(h.Sum(nil))
}
