// SPDX-License-Identifier: Apache-2.0

package commits

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/fabric/write"
	"example.org/ibconsole/history"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/shell/session"
)

// Drain is a link, switch or host that commits took out of service and that is not back.
type Drain struct {
	What, Name string // as in "link", "leaf-01/36"
	// Tables is the commit that moved the paths away, Ports the commit that disabled the ports. Their ID is 0 if there
	// is no such commit.
	Tables, Ports history.JournalEntry
}

const (
	drainNote = "drain "
	portsNote = ", ports"
)

// Note returns the journal's note of the commit that moves the paths away, or that disables the ports.
func (d *Drain) Note(ports bool) string { return drainNote + d.about(ports) }

// UndrainNote returns the journal's note of the commit that moves the paths back, or that enables the ports.
func (d *Drain) UndrainNote(ports bool) string { return history.UndrainNote + d.about(ports) }

func (d *Drain) about(ports bool) string {
	return d.What + " " + d.Name + prose.When(ports, portsNote, "")
}

// NeedJournal returns an error if the commits of the session cannot be recorded.
func NeedJournal(s *session.Session) error {
	store, err := s.History()
	if err == nil {
		err = store.ReadOnly()
	}
	if err != nil {
		return noJournal(err)
	}
	return nil
}

// Drains returns what is drained by the journal, the latest first.
func Drains(ctx context.Context, s *session.Session) (all []Drain, err error) {
	if s.Journal().Recorder.None() {
		return nil, nil
	}
	journal, err := s.Journal().Commits(ctx)
	if err != nil {
		return nil, err
	}
	journal = slices.DeleteFunc(journal, func(j history.JournalEntry) bool { return !s.Journal().Concerns(j.ID) })
	for i := range journal {
		note, isPorts := strings.CutSuffix(journal[i].Note, portsNote)
		text, isDrain := strings.CutPrefix(note, drainNote)
		j, holds := inForce(journal, &journal[i])
		what, name, _ := strings.Cut(text, " ")
		if !isDrain || !holds {
			continue
		}
		at := slices.IndexFunc(all, func(d Drain) bool { return d.What == what && d.Name == name })
		if at < 0 {
			at = len(all)
			all = append(all, Drain{What: what, Name: name})
		}
		switch d := &all[at]; {
		case isPorts && d.Ports.ID == 0:
			d.Ports = j
		case !isPorts && d.Tables.ID == 0:
			d.Tables = j
		}
	}
	return all, nil
}

// inForce returns the commit to roll back in order to undo commit j: j itself, or the commit that finished it. It
// returns false if neither is in force. A commit is in force again if its rollback was rolled back. The argument all is
// the journal, the newest commit first.
func inForce(all []history.JournalEntry, j *history.JournalEntry) (history.JournalEntry, bool) {
	by := func(isFinished bool) *history.JournalEntry {
		i := slices.IndexFunc(all, func(x history.JournalEntry) bool {
			finishes := x.Note == history.ResumedNote || x.Note == history.ResumedRollbackNote
			return x.Completes == j.ID && finishes == isFinished && x.Outcome != history.NothingWritten
		})
		if i < 0 {
			return nil
		}
		return &all[i]
	}
	switch j.Outcome {
	case history.Done:
		return *j, true
	case history.Finished:
		if x := by(true); x != nil {
			return inForce(all, x)
		}
	case history.RolledBack:
		if x := by(false); x != nil && x.Outcome == history.RolledBack {
			_, isUndone := inForce(all, x)
			return *j, !isUndone
		}
	}
	return history.JournalEntry{}, false
}

// isUndrain reports whether a commit of the journal reversed one of a drain by the command undrain, or finished that.
func isUndrain(all []history.JournalEntry, j *history.JournalEntry) bool {
	if j.Note != history.ResumedRollbackNote {
		return strings.HasPrefix(j.Note, history.UndrainNote)
	}
	i := slices.IndexFunc(all, func(x history.JournalEntry) bool { return x.ID == j.Completes && x.ID < j.ID })
	return i >= 0 && isUndrain(all, &all[i])
}

// PortsToDisable returns the ports that take these links of f out of service, one for each link between switches or to
// a host. It chooses ends that after, the fabric without the links, still reaches, and prefers the port named. A host
// is disabled at its switch. It leaves out links with no such end.
func PortsToDisable(f, after *fabric.Fabric, links []fabric.Link, named fabric.PortIndex) (all []write.Control) {
	for _, l := range links {
		ends := []fabric.PortIndex{l.A, l.B}
		if l.B == named {
			slices.Reverse(ends)
		}
		for _, p := range ends {
			node := &f.Nodes[f.Ports[p].Node]
			if node.IsSwitch() && after.Nodes[f.Ports[p].Node].InSubnet {
				all = append(all, write.Control{Port: p, GUID: node.GUID, Num: f.Ports[p].Num, Phys: mad.PhysDisabled})
				break
			}
		}
	}
	return all
}

// quietFor is how long the data counters must stand still.
const quietFor = time.Second

// AwaitQuiet waits until the data counters of these links of the live subnet stand still, or until the timeout. It
// reads them at the switches that after, the fabric without the links, still reaches. It returns the ports whose
// counters still change, and the ports that could not be read. It calls the function waiting once if it has to wait
// longer than usual.
func AwaitQuiet(ctx context.Context, s *session.Session, after *fabric.Fabric, links []fabric.Link,
	timeout time.Duration, waiting func(moving, unread []string)) (moving, unread []string, err error) {
	op, err := s.Begin(ctx, "drain")
	if err != nil {
		return nil, nil, err
	}
	defer op.End()
	st := s.State()
	f := st.Live.Fabric
	var ports []fabric.PortIndex
	for _, l := range links {
		for _, p := range []fabric.PortIndex{l.A, l.B} {
			if n := &after.Nodes[after.Ports[p].Node]; n.IsSwitch() && n.InSubnet {
				ports = append(ports, p)
			}
		}
	}
	if len(ports) == 0 {
		return nil, nil, errors.New("no switch at an end of these links can be read")
	}
	opt := st.CounterOptions(nil)
	opt.What = counters.Of(counters.XmitData, counters.RcvData)
	began := time.Now()
	var before *counters.Reading
	for {
		now, err := counters.Read(ctx, s.Connection().Client(), f, opt, ports...)
		if err != nil {
			return nil, nil, err
		}
		if before != nil {
			moving, unread = nil, nil
			read := map[fabric.PortIndex]bool{}
			for _, d := range counters.Deltas(before, now) {
				read[d.Port] = d.Has&opt.What == opt.What && d.AtLeast()&opt.What == 0
				if d.Increase[counters.XmitData]+d.Increase[counters.RcvData] > 0 {
					moving = append(moving, f.PortName(d.Port))
				}
			}
			for _, p := range ports {
				if !read[p] {
					unread = append(unread, f.PortName(p))
				}
			}
			if len(moving)+len(unread) == 0 || time.Since(began) >= timeout {
				return moving, unread, nil
			}
			if waiting != nil {
				waiting(moving, unread)
				waiting = nil
			}
		}
		before = now
		op.Progress(int(time.Since(began)/time.Second), int(timeout/time.Second))
		if err := sleep(ctx, quietFor); err != nil {
			return nil, nil, fmt.Errorf("wait for the data counters: %w", err)
		}
	}
}
