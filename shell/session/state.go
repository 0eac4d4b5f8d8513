// SPDX-License-Identifier: Apache-2.0

package session

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/apply"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/fabric/failures"
	"example.org/ibconsole/fabric/formats/unread"
	"example.org/ibconsole/fabric/losses"
	"example.org/ibconsole/fabric/sweep"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/internal/base/when"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/routing/compute"
	"example.org/ibconsole/shell/session/calibration"
	"example.org/ibconsole/shell/session/managers"
	"example.org/ibconsole/shell/session/settings"
	"example.org/ibconsole/shell/session/source"
)

// State is a consistent view of a session at one moment. It is read-only.
type State struct {
	// Generation counts the changes.
	Generation uint64
	Source     source.Source
	// Adapter is the port of this machine that was opened last, nil for other sources.
	Adapter *Adapter

	Pictures

	Settings settings.Settings
	// Sets are named sets of hosts, in the order of their creation.
	Sets HostSets
	// Adapting is true if computed tables get simulated groups for adaptive routing.
	Adapting bool
	// Groups are the multicast groups that were loaded or read, nil for none.
	Groups *Groups

	Reading
	News
	Counts
	Expected
	Evidence
	Commits
	Running
	recalls
	// slots are values of features, by slot.
	slots map[*slotKey]any
}

// Pictures are the states of the subnet, and the simulation that they are based on.
type Pictures struct {
	Live, Base, WhatIf, Staged *Picture
	// Stale is true if the what-if changed after the staged tables were computed.
	Stale bool
	// Written is true if the staged tables were written and read back.
	Written bool
	Simulation
}

// Simulation holds the simulated failures and additions.
type Simulation struct {
	Failures []failures.Failure
	// past is what an OpenSM that runs through the failures and repairs would remember of its last routing.
	past  compute.Past
	drawn drawn
	// lastBase is the previous base, if it has tables and the live state has none.
	lastBase *Picture
	// lastFailure is the number of the latest failure.
	lastFailure int
}

// Reading describes the last sweep or the file.
type Reading struct {
	// Lost is why the connection was lost since the last sweep, "" if it was not. The live state is outdated then.
	Lost string
	// Unanswered lists the requests of the last sweep without a response, in words.
	Unanswered   []string
	unansweredAt []sweep.Unanswered
	// Duplicates are GUIDs and LIDs that two ports or nodes have.
	Duplicates []sweep.Duplicate
	// Warnings are those of the last sweep or of reading the file.
	Warnings []string
	// Unread is what could not be read of the file of the subnet.
	Unread unread.List
	// Names are the descriptions that a node-name map gives, by node GUID, nil where none was loaded.
	Names map[uint64]string
	// Every is the interval of background sweeps, 0 for none.
	Every time.Duration
	// WatchFailed is why the last sweep in the background failed, "" if it did not.
	WatchFailed string
	// SweepTook is the duration of the last sweep, also of a light one.
	SweepTook time.Duration
	// Unsettled is true if the last full sweep found changes. Light sweeps read everything until two sweeps are equal.
	Unsettled bool
	// mute are known nodes that do not respond, by GUID.
	mute map[uint64]bool
	// PKeys are the P_Keys of end ports by their GUID, nil where they were not read.
	PKeys map[uint64][]mad.PKey
	// SMs are the subnet managers that were seen.
	SMs []managers.SM
	// HasStates is true for a file that states which of its ports are up.
	HasStates bool
}

// News holds the events that sweeps found.
type News struct {
	// Events are in the order of time.
	Events []Event
	// recordedTo is the time of the last event in the history.
	recordedTo time.Time
}

// Counts holds the counters of ports.
type Counts struct {
	// Recording is true if counters are recorded in the background.
	Recording bool
	// Counted has the increases between the last two readings of all counters, nil before the second reading.
	Counted *Counted
	// Rising has the last increases of errors and XmitWait that a recorder read, nil for none.
	Rising *Counted
	// Uncounted are the ports without a response in the last reading of all counters, nil if any port responded.
	Uncounted []counters.Unanswered
	// Standing are the counters that were at their maximum when they were read last.
	Standing map[counters.Key][]counters.Standing
	// Read has the counters in the file of the subnet, nil for none.
	Read *counters.Reading
}

// Expected holds the expected subnet and what the subnet lacks.
type Expected struct {
	// Losses are links and nodes that the live subnet had, according to this session or the history, and now lacks.
	// Saving a baseline accepts them.
	Losses losses.List
	// Baseline is the expected subnet, nil for none.
	Baseline *Baseline
}

// Evidence holds what is known of the subnet manager that routes the live subnet.
type Evidence struct {
	// Estimate is true if tables computed with the settings differ from those of the switches. A what-if then only
	// estimates what the subnet manager would do.
	Estimate bool
	manager  managers.Info
	// Calibrated is the last calibration, nil for none.
	Calibrated *calibration.Calibration
	// sls are the SLs of the live paths, nil if unknown.
	sls *liveSLs
}

// Commits describes the last commit.
type Commits struct {
	WriteOn bool
	// Unlogged is why the log of the machine has no record of a write, "" if it has.
	Unlogged string
	// Committed is the state that the last commit wrote, nil for none. At the last sweep Drift entries differed from
	// it, and Unchecked switches were not read.
	Committed *Picture
	Drift     int
	Unchecked int
	// Interrupted describes the interrupted commit of this subnet, "" for none.
	Interrupted string
}

// Running describes the running operation.
type Running struct {
	// Busy is its name, "" for none.
	Busy        string
	Done, Total int
	// Writing is the progress of a commit, nil before it writes.
	Writing *Writing
}

// recalls finds states of the history.
type recalls struct {
	recall   func(id int64) (*Picture, error)
	recallAt func(time.Time) (*Picture, error)
}

// Writing is the progress of a commit.
type Writing = apply.Progress

// Adapter is a port of an adapter of this machine.
type Adapter struct {
	CA   string
	Port int
}

// UnansweredAt returns the requests without a response by place.
func (rd *Reading) UnansweredAt() []sweep.Unanswered { return rd.unansweredAt }

// Default returns the state that a reading command uses by default: staged if there is one, otherwise whatif, otherwise
// live.
func (ps *Pictures) Default() *Picture {
	switch {
	case ps.Staged != nil:
		return ps.Staged
	case ps.WhatIf != nil:
		return ps.WhatIf
	}
	return ps.Live
}

// Paper returns the fabric that routes are computed for: that of the what-if if there is one, otherwise the live one.
func (ps *Pictures) Paper() *fabric.Fabric {
	if ps.WhatIf != nil {
		return ps.WhatIf.Fabric
	}
	return ps.Live.Fabric
}

// stale reports whether the staged tables were computed for a fabric different from that of the what-if, both before
// and after their LIDs are written.
func (ps *Pictures) stale() bool {
	if ps.Staged == nil {
		return false
	}
	paper := ps.Paper()
	return !fabric.Same(ps.Staged.madeOf, paper) && !fabric.Same(ps.Staged.Fabric, paper)
}

// PaperBase returns the state that the what-if is compared with: its base, or the live state.
func (ps *Pictures) PaperBase() *Picture {
	if ps.Base != nil {
		return ps.Base
	}
	return ps.Live
}

// tables returns the tables of all states.
func (ps *Pictures) tables() []*fabric.Tables {
	var all []*fabric.Tables
	for _, p := range []*Picture{ps.Live, ps.Base, ps.WhatIf, ps.Staged} {
		if p != nil && p.Tables != nil {
			all = append(all, p.Tables)
		}
	}
	return all
}

// Of returns the state of a name, the default one for "".
func (st *State) Of(k Kind) (*Picture, error) {
	var p *Picture
	switch k {
	case "":
		p = st.Default()
	case Live:
		p = st.Live
	case Base:
		p = st.Base
		if p == nil {
			p = st.Live.as(Base)
		}
	case WhatIf:
		if p = st.WhatIf; p == nil {
			return nil, fmt.Errorf("there is no what-if: nothing has failed (try: fail link SWITCH PORT)")
		}
	case Staged:
		if p = st.Staged; p == nil {
			return nil, fmt.Errorf("nothing is staged (try: route)")
		}
	default:
		id, err := strconv.ParseInt(string(k), 10, 64)
		if at, whenErr := when.Parse(string(k), time.Now()); err != nil && whenErr == nil && st.recallAt != nil {
			return st.recallAt(at)
		}
		if err != nil || st.recall == nil {
			return nil, fmt.Errorf("no state is called %q, expected live, base, whatif, staged, the number of a "+
				"history entry or a time", k)
		}
		return st.recall(id)
	}
	return p, nil
}

// TablesOf is like [State.Of] for a state that must have tables.
func (st *State) TablesOf(k Kind) (*Picture, error) {
	p, err := st.Of(k)
	if err != nil {
		return nil, err
	}
	switch {
	case p.Tables != nil && p.Fabric.MaxLID > 0:
	case p.Kind == Base && st.Staged != nil:
		return nil, fmt.Errorf("%s has no forwarding tables; there are some to compare with after: restore all; "+
			"route; and the failures again", st.Title(p))
	case k == "" || k == Staged: // route stages some
		return nil, fmt.Errorf("%s has no forwarding tables (try: route)", st.Title(p))
	case p == st.Live && st.Staged != nil && !st.Source.Offline():
		return nil, fmt.Errorf("%s has no forwarding tables until the staged ones are written (try: commit)",
			st.Title(p))
	default:
		return nil, fmt.Errorf("%s has no forwarding tables", st.Title(p))
	}
	return p, nil
}

// ErrStaleTables reports that the default state is staged tables that are stale.
var ErrStaleTables = errors.New(isStaleText + "; route first, or name the state (of=staged, of=whatif)")

const isStaleText = "the staged tables are stale: the what-if changed after they were computed"

// IsStale reports whether a state is staged tables that are stale.
func (ps *Pictures) IsStale(p *Picture) bool { return p.Kind == Staged && ps.Stale }

// Subject returns the state that an answer describes. It is like [State.Of], but fails with [ErrStaleTables] if the
// default state is stale. A stale state that is named is described in the subnet for which it was computed.
func (st *State) Subject(k Kind) (*Picture, error) {
	p, err := st.Of(k)
	if err == nil && k == "" && st.IsStale(p) {
		return nil, ErrStaleTables
	}
	return p, err
}

// FreshTablesOf is like [State.Subject] for a state that must have tables.
func (st *State) FreshTablesOf(k Kind) (*Picture, error) {
	if _, err := st.Subject(k); err != nil {
		return nil, err
	}
	return st.TablesOf(k)
}

// Title returns the title of a state for people: "staged (minhop, not written, stale)".
func (st *State) Title(p *Picture) string {
	switch {
	case p.Kind == Staged:
		words := []string{p.Tables.Origin, writtenWord(st.Written)}
		if p.Entry != nil && p.Simulated != "" {
			words = append(words, "of a what-if: "+fabric.Escape(p.Simulated))
		}
		if st.Estimate {
			words = append(words, "an estimate")
		}
		if st.Stale {
			words = append(words, "STALE since the what-if changed")
		}
		return "staged (" + strings.Join(words, ", ") + ")"
	case p.Kind == WhatIf:
		return "whatif (" + st.OnPaper() + ")"
	case p.Kind == Live && st.Lost != "":
		return fmt.Sprintf("live (OLD: the connection was lost, read at %s)", p.When.Format(time.TimeOnly))
	case p.Kind == Live && st.HasStates:
		return fmt.Sprintf("live (as of %s)", p.When.Format(time.DateTime))
	case p.Kind == Live && len(st.Unanswered) > 0:
		return fmt.Sprintf("live (INCOMPLETE: %s unanswered)", prose.Count(len(st.Unanswered), "question"))
	case p.Entry != nil && p.Simulated != "":
		return fmt.Sprintf("%s (what-if: %s)", p.Kind, fabric.Escape(p.Simulated))
	case p.IsComputed():
		return fmt.Sprintf("%s (%s)", p.Kind, fabric.Escape(string(p.Entry.Kind)))
	}
	return string(p.Kind)
}

// OnPaper counts what is simulated, "2 failures, 1 repair", and mentions a topology from a file.
func (ps *Pictures) OnPaper() string {
	var failed, repaired, added, moved int
	for i := range ps.Failures {
		switch f := &ps.Failures[i]; {
		case f.Moved:
			moved++
		case f.Added:
			added++
		case f.Repair:
			repaired++
		default:
			failed++
		}
	}
	words := []string{}
	for _, x := range []struct {
		n    int
		what string
	}{{failed, "failure"}, {repaired, "repair"}, {added, "addition"}, {moved, "move"}} {
		if x.n > 0 {
			words = append(words, prose.Count(x.n, x.what))
		}
	}
	if ps.TopologyFile() != "" {
		words = slices.Insert(words, 0, "topology")
	}
	if len(words) == 0 {
		return prose.Count(0, "failure")
	}
	return strings.Join(words, ", ")
}

func writtenWord(written bool) string {
	if written {
		return "written"
	}
	return "not written"
}

// LocalPort returns the end port that the session uses, None for a file.
func (st *State) LocalPort() fabric.PortIndex {
	f := st.Live.Fabric
	if st.Source.Offline() || f.SMPort == fabric.None {
		return fabric.None
	}
	return f.EndPortOf(f.SMPort)
}
