// SPDX-License-Identifier: Apache-2.0

package commits

import (
	"errors"
	"fmt"
	"strings"

	"example.org/ibconsole/fabric/write"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing/changes/transition"
	"example.org/ibconsole/routing/checks/credits"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/journal"
	"example.org/ibconsole/shell/session/managers"
	"example.org/ibconsole/shell/session/servicelevels"
)

// ErrNothingStaged is returned if there are no tables to commit.
var ErrNothingStaged = errors.New("nothing is staged; hint: run 'route'")

// Permission is a kind of harm that the options of a commit can permit.
type Permission int

// The permissions. Each corresponds to a field of [Options].
const (
	Unreachable Permission = iota + 1
	Interrupt
	Loop
	Incomplete
	Overwrite
	Abandon
	NoJournal
	Master
	OwnPathDown
)

// RefusedError is returned for a commit that needs a permission.
type RefusedError struct {
	Needs  Permission
	Err    error        // why it is refused
	Others *Others      // what it would overwrite, for Overwrite
	SM     *managers.SM // the master SM, for Master
}

func (e *RefusedError) Error() string { return e.Err.Error() }

func (e *RefusedError) Unwrap() error { return e.Err }

// Needs reports whether an error is the refusal of a commit that needs the permission p.
func Needs(err error, p Permission) bool {
	e, ok := errors.AsType[*RefusedError](err)
	return ok && e.Needs == p
}

func refused(needs Permission, format string, args ...any) error {
	return &RefusedError{Needs: needs, Err: fmt.Errorf(format, args...)}
}

// refusal returns the reason why the plan is not written, or nil if it may be written. For a plan that is only shown,
// other reasons have precedence over the missing permission to write.
func (c *commit) refusal() error {
	if !c.st.WriteOn && c.opt.writes() {
		return session.ErrReadOnly
	}
	err := c.obstacle()
	if err == nil && !c.st.WriteOn {
		err = session.ErrReadOnly
	}
	return err
}

// obstacle returns the reason why the plan must not be written even if writing is allowed.
func (c *commit) obstacle() error {
	master, ok := c.st.Master()
	switch {
	case ok && c.opt.Master == 0:
		return &RefusedError{Needs: Master, SM: &master,
			Err: fmt.Errorf("a %s subnet manager, 0x%016x on %s, manages this subnet; its next routing would "+
				"mix its tables with the committed tables, because an SM sends only blocks that differ from "+
				"its own copy", master.State, master.GUID, master.Port)}
	case ok && master.GUID != c.opt.Master:
		return fmt.Errorf("0x%016x is not the master subnet manager, which is 0x%016x on %s", c.opt.Master, master.GUID,
			master.Port)
	case !ok && c.opt.Master != 0:
		return fmt.Errorf("0x%016x is not the master subnet manager: there is none", c.opt.Master)
	}
	if err := c.incomplete(); err != nil {
		return err
	}
	return c.harm()
}

// incomplete returns an error for a commit to a subnet that was not read completely, unless the options allow it.
func (c *commit) incomplete() error {
	n := len(c.st.Unanswered)
	if n == 0 || c.opt.AllowIncomplete {
		return nil
	}
	return refused(Incomplete, "the subnet was read with %s unanswered (%s); what did not respond would lose its "+
		"routes "+
		"(show unanswered lists them)", prose.Count(n, "request"), prose.List(c.st.Unanswered, 1))
}

// harm returns an error for a harm of the plan that the options do not allow, or nil.
func (c *commit) harm() error {
	r, opt := &c.rep, &c.opt
	h := &r.Plan.Hit
	switch {
	case len(r.OwnPath) > 0 && !opt.AllowOwnPath:
		return refused(OwnPathDown, "this console depends on the link: %s", prose.List(r.OwnPath, 3))
	case c.isPorts():
		return c.losing()
	case r.Others != nil && r.Others.Count > r.Others.Recorded && !opt.AllowOverwrite:
		return &RefusedError{Needs: Overwrite, Others: r.Others, Err: r.Others.err()}
	case c.cutsOff() && !opt.AllowUnreachable:
		return c.unreachable()
	case h.Pairs() > 0 && !opt.AllowInterrupt:
		return refused(Interrupt, "%s interrupted: LIDs change or links of new paths are down, and no order of writes "+
			"avoids it", prose.Verb(h.Pairs(), "connected pair", "would be", "would be"))
	case h.Unknown > 0 && !opt.AllowInterrupt:
		return refused(Interrupt, "%s interrupted: their new paths take switches whose tables were not read",
			prose.Verb(h.Unknown, "connected pair", "may be", "may be"))
	case len(h.Groups) > 0 && !opt.AllowInterrupt:
		return refused(Interrupt, "%s interrupted while its trees change", prose.Verb(len(h.Groups), "multicast group",
			"would be", "would be"))
	case r.Circling > 0 && !opt.AllowInterrupt:
		return refused(Interrupt, "the new trees of %s have cycles, in which packets circulate forever (check mcast "+
			"lists them)", prose.Count(r.Circling, "multicast group"))
	case r.Credits.AddsLoop() && !opt.AllowLoop && !c.of.restores() && !r.Resumes:
		return refused(Loop, "the new routes %s a credit loop over %s (through %s), in which packets may wait for one "+
			"another forever, and the routes on the switches have none; hint: choose an engine whose "+
			"routes have none, and run 'route'",
			prose.When(r.Credits.New == credits.Unknown, "may have", "have"), prose.Count(len(r.Ring()), "link"),
			r.Credits.Fabric.PortName(r.Ring()[0].Port))
	case r.needsLoop() && !opt.AllowLoop && !c.of.restores():
		return c.loopBetween()
	case r.SLs != nil && !r.SLs.Safe():
		return &servicelevels.Error{Proof: *r.SLs}
	}
	return nil
}

// cutsOff reports whether connected pairs lose their path that no drain names.
func (c *commit) cutsOff() bool {
	r := &c.rep
	return r.Lost > 0 && (r.Unconnected+r.Unproved > 0 || !c.opt.Drains)
}

// needsLoop reports whether the writes have, or may have, a credit loop that neither the old nor the new routes have
// alone.
func (r *Report) needsLoop() bool {
	return r.Avoidance != nil && !r.Avoidance.Taken
}

// loopBetween returns the error for a credit loop that the old and the new routes have only together.
func (c *commit) loopBetween() error {
	l, a := c.rep.Credits, c.rep.Avoidance
	loop := fmt.Sprintf("the old and the new routes together %s a credit loop over %s (through %s), which neither has "+
		"alone", prose.When(l.Loop == credits.Unknown, "may have", "have"), prose.Count(len(c.rep.Ring()), "link"),
		l.Fabric.PortName(c.rep.Ring()[0].Port))
	t := a.Transition
	if a.Drains() && a.NoSettleTime == nil && a.Fault == nil {
		f := c.st.Live.Fabric
		names, more := prose.Cut(prose.Words(t.Drained, func(lid uint16) string {
			return f.PortName(f.PortByLID(lid))
		}), 5)
		ports := strings.TrimSpace(strings.Join(append(names, more), " "))
		if t.Method == transition.OtherLIDs {
			return refused(Interrupt, "%s; to avoid it, some LIDs of %s would have no path during the writes, and "+
				"connections must move to the other LIDs: %s", loop, prose.Count(len(t.Drained), "LID"), ports)
		}
		return refused(Interrupt, "%s; to avoid it, %s unreachable during the writes: %s", loop,
			prose.Verb(len(t.Drained), "port", "would be", "would be"), ports)
	}
	why := "no steps that avoid it were computed, because other data change as well"
	switch {
	case a.Fault != nil:
		why = fmt.Sprintf("an independent check found a fault in the steps that were found to avoid it: %v", a.Fault)
	case a.NoSettleTime != nil:
		why = "the steps that avoid it need to wait until earlier packets have left: " + a.NoSettleTime.Error()
	case t != nil && t.Order == transition.ProvedNone:
		why = "there is no order of writes that avoids it"
	case t != nil:
		why = "no order of writes that avoids it was found"
	}
	return refused(Loop, "%s; %s", loop, why)
}

// unreachable returns the error for connected pairs that have no path after the commit.
func (c *commit) unreachable() error {
	lost := prose.Verb(c.rep.Lost, "connected pair", "would lose its path", "would lose their paths")
	tables := "the staged tables do not connect all of the subnet that they were computed for"
	if !c.isStaged() {
		tables = fmt.Sprintf("the tables of history entry %d do not connect them", c.target.Entry.ID)
	}
	switch {
	case c.rep.Unconnected+c.rep.Unproved == 0 && c.isStaged():
		tables = "no link of the what-if leads to them, and links of the live subnet do"
	case c.rep.Unconnected == 0:
		tables = "it is unknown whether the new tables connect their own subnet, as some were not read"
	}
	return refused(Unreachable, "%s: %s", lost, tables)
}

// refuse returns the refusal. If the reason is that others wrote to the switches, the what-if restarts from the present
// tables, so that new routes take them into account. A rollback does not change the what-if.
func (c *commit) refuse() error {
	if e, ok := errors.AsType[*RefusedError](c.rep.Refusal); ok && e.Needs == Overwrite && c.of.id == 0 {
		c.Publish(session.ChangePaper, func(st *session.State) { e.Others.Restarted = st.RestartFromLive() })
	}
	return c.rep.Refusal
}

// OverwrittenError is returned for a commit that was written and read back completely, but that others overwrote
// immediately.
type OverwrittenError struct{ write.Conflicts }

func (e *OverwrittenError) Error() string {
	return fmt.Sprintf("everything was written and read back, and others have overwritten %s of it since: %s; "+
		"hint: run 'diff staged live' and 'show sms'", prose.Count(e.Count, "entry"), e.First(journal.MaxExamples))
}

// StoppedError is returned for a commit that stopped before it was complete.
type StoppedError struct {
	Step    string                    // the step during which it stopped, "" if everything was sent
	Ports   bool                      // it controlled ports
	Hitless bool                      // the mixture of old and new routes interrupts no pair
	Open    *journal.InterruptedError // the interrupted commit in the journal, nil without a journal
	Err     error
}

func (e *StoppedError) Error() string {
	mix := "hold a mixture of old and new routes"
	switch {
	case e.Step == "":
		mix = "may hold a mixture of old and new routes"
	case e.Hitless:
		mix += " that interrupts no pair and has no loop"
	}
	remedy := "finish it with commit yes"
	if e.Open != nil {
		remedy = e.Open.Remedy()
	}
	if e.Ports {
		return fmt.Sprintf("%v. Some ports may have been changed: %s", e.Err, remedy)
	}
	return fmt.Sprintf("%v. The switches %s: %s", e.Err, mix, remedy)
}

func (e *StoppedError) Unwrap() error { return e.Err }
