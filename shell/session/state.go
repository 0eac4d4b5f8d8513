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
	"example.org/ibconsole/shell/session/journal"
	"example.org/ibconsole/shell/session/managers"
	"example.org/ibconsole/shell/session/settings"
	"example.org/ibconsole/shell/session/source"
)

// State is a consistent view of a session at one point in time. It is read-only.
type State struct {
	// Generation counts the changes.
	Generation uint64
	Source     source.Source
	// Adapter is the port of this machine that was opened last. It is nil for sources without an adapter.
	Adapter *Adapter

	Pictures

	Settings settings.Settings
	// Sets are the named sets of hosts, in the order of their creation.
	Sets HostSets
	// Adapting is set if computed tables get simulated groups for adaptive routing.
	Adapting bool
	// Groups are the multicast groups that were loaded or read, or nil.
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

// Pictures holds the states of the subnet, and the simulation on which they are based.
type Pictures struct {
	Live, Base, WhatIf, Staged *Picture
	// Stale is set if the what-if, or without a what-if the live subnet, changed after the staged tables were
	// computed.
	Stale bool
	// Written is set if the staged tables were written and read back.
	Written  bool
	diverged divergence
	Simulation
}

// Simulation holds the simulated failures and additions.
type Simulation struct {
	Failures []failures.Failure
	// The field past is the last routing as OpenSM would remember it, if OpenSM had run through the simulated failures
	// and repairs.
	past  compute.Past
	drawn drawn
	// lastBase is the previous base. It is kept only if it has tables and the live state has none.
	lastBase *Picture
	// lastFailure is the number of the latest failure.
	lastFailure int
}

// Reading describes the last sweep or the file that was read.
type Reading struct {
	// Lost is the reason why the connection was lost after the last sweep, or "". If it is set, the live state is
	// outdated.
	Lost string
	// Unanswered lists the requests of the last sweep that got no response, as texts.
	Unanswered   []string
	unansweredAt []sweep.Unanswered
	// Duplicates are GUIDs and LIDs that two ports or nodes have in common.
	Duplicates []sweep.Duplicate
	// Warnings are the warnings of the last sweep, or of reading the file.
	Warnings []string
	partial  []string // what cannot be read of the history and of the record
	// Unread lists the parts of the subnet's file that could not be read.
	Unread unread.List
	// Names are the node descriptions from a node-name map, by node GUID. It is nil if no map was loaded.
	Names map[uint64]string
	// Labels are the labels of ports from a cabling plan. It is nil if no plan was compared.
	Labels *PortLabels
	// Every is the interval of background sweeps, or 0 if there are none.
	Every time.Duration
	// WatchFailed is the reason why the last background sweep failed, or "".
	WatchFailed string
	// SweepTook is the duration of the last sweep, which may have been a light sweep.
	SweepTook time.Duration
	// Unsettled is set if the last full sweep found changes. Light sweeps then read everything until two sweeps find
	// the same.
	Unsettled bool
	// mute is the set of known nodes that do not respond, by GUID.
	mute map[uint64]bool
	// PKeys are the P_Keys of end ports by port GUID. It is nil if they were not read.
	PKeys map[uint64][]mad.PKey
	// SMs are the subnet managers that were found.
	SMs []managers.SM
	// HasStates is set for a file that contains the states of its ports.
	HasStates bool
}

// News holds the events that sweeps found.
type News struct {
	// Events are in the order in which they were added.
	Events []Event
	// events counts the events that were ever added. The first of them, recorded in number, are in the history.
	events, recorded uint64
}

// Counts holds the counters of ports.
type Counts struct {
	// Recording is set if counters are recorded in the background.
	Recording bool
	// Counted holds the increases between the last two readings of all counters. It is nil before the second reading.
	Counted *Counted
	// Rising holds the last increases of errors and XmitWait that a recorder read, or nil.
	Rising *Counted
	// Uncounted are the ports that did not respond in the last reading of all counters. It is nil if at least one port
	// responded.
	Uncounted []counters.Unanswered
	// Standing are the counters that were at their maximum in the last reading.
	Standing map[counters.Key][]counters.Standing
	// Read holds the counters in the file of the subnet, or nil if the file has none.
	Read *counters.Reading
}

// Expected holds the expected subnet, and the nodes and links that the live subnet lacks.
type Expected struct {
	// Losses are links and nodes that the live subnet has lost, according to this session or the history. Saving a
	// baseline clears them.
	Losses losses.List
	// Baseline is the expected subnet, or nil if there is no baseline.
	Baseline *Baseline
}

// Evidence holds the facts known about the subnet manager that routes the live subnet.
type Evidence struct {
	// Estimate is set if tables computed with the settings differ from those on the switches. A what-if then only
	// estimates the behaviour of the subnet manager.
	Estimate bool
	manager  managers.Info
	// Calibrated is the last calibration, or nil.
	Calibrated *calibration.Calibration
	// sls are the SLs of the live paths, or nil if unknown.
	sls *liveSLs
}

// Commits describes the last commit.
type Commits struct {
	WriteOn bool
	// Unlogged is the reason why a write was not recorded in the log of the machine, or "" if it was.
	Unlogged string
	// Committed is the state that the last commit wrote, or nil. Drift is the number of entries that differed from this
	// state at the last sweep. Unchecked is the number of switches that this sweep did not read.
	Committed *Picture
	Drift     int
	Unchecked int
	// Interrupted describes the interrupted commit of this subnet, or is "" if there is none.
	Interrupted string
	// Elsewhere describes a commit that was interrupted in another console's simulation of this subnet, or is "".
	Elsewhere string
	// Own lists the commits of this session, the oldest first.
	Own []journal.Own
}

// Running describes the running operation.
type Running struct {
	// Busy is its name, "" for none.
	Busy        string
	Done, Total int
	// Writing is the progress of a commit. It is nil until the commit writes.
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

// UnansweredAt returns the requests that got no response, with their places.
func (rd *Reading) UnansweredAt() []sweep.Unanswered { return rd.unansweredAt }

// Default returns the state that reading commands use by default: staged if it exists, otherwise whatif if it exists,
// otherwise live.
func (ps *Pictures) Default() *Picture {
	switch {
	case ps.Staged != nil:
		return ps.Staged
	case ps.WhatIf != nil:
		return ps.WhatIf
	}
	return ps.Live
}

// Paper returns the fabric for which routes are computed: that of the what-if if it exists, otherwise the live fabric.
func (ps *Pictures) Paper() *fabric.Fabric {
	if ps.WhatIf != nil {
		return ps.WhatIf.Fabric
	}
	return ps.Live.Fabric
}

// stale reports whether the staged tables do not belong to the fabric of the what-if. It compares this fabric with that
// of the staged tables before and after LIDs were assigned.
func (ps *Pictures) stale() bool {
	if ps.Staged == nil {
		return false
	}
	paper := ps.Paper()
	return !fabric.Same(ps.Staged.madeOf, paper) && !fabric.Same(ps.Staged.Fabric, paper)
}

// PaperBase returns the state with which the what-if is compared: its base, or the live state if there is no base.
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

// Of returns the state of a kind. For "" it returns the default state.
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
			return nil, fmt.Errorf("there is no what-if: nothing has failed; hint: run 'fail link SWITCH PORT'")
		}
	case Staged:
		if p = st.Staged; p == nil {
			return nil, fmt.Errorf("nothing is staged; hint: run 'route'")
		}
	default:
		id, err := strconv.ParseInt(string(k), 10, 64)
		if at, whenErr := when.Parse(string(k), time.Now()); err != nil && whenErr == nil && st.recallAt != nil {
			return st.recallAt(at)
		}
		if err != nil || st.recall == nil {
			return nil, fmt.Errorf("unknown state %q, expected live, base, whatif, staged, the number of a "+
				"history entry or a time", k)
		}
		return st.recall(id)
	}
	return p, nil
}

// TablesOf is like [State.Of], but returns an error if the state has no tables.
func (st *State) TablesOf(k Kind) (*Picture, error) {
	p, err := st.Of(k)
	if err != nil {
		return nil, err
	}
	switch {
	case p.Tables != nil && p.Fabric.MaxLID > 0:
	case p.Kind == Base && st.Staged != nil:
		return nil, fmt.Errorf("%s has no forwarding tables; hint: run 'restore all; route', then repeat the "+
			"failures", st.Title(p))
	case k == "" || k == Staged: // route stages some
		return nil, fmt.Errorf("%s has no forwarding tables; hint: run 'route'", st.Title(p))
	case p == st.Live && st.Staged != nil && !st.Source.Offline():
		return nil, fmt.Errorf("%s has no forwarding tables until the staged tables are written; hint: run "+
			"'commit'",
			st.Title(p))
	default:
		return nil, fmt.Errorf("%s has no forwarding tables", st.Title(p))
	}
	return p, nil
}

// ErrStaleTables is returned if the default state is the staged state and its tables are stale.
var ErrStaleTables = errors.New(isStaleText + "; route first, or name the state (of=staged, of=whatif, of=live)")

const isStaleText = "the staged tables are stale: the what-if or the subnet changed after they were computed"

// IsStale reports whether p is the staged state and its tables are stale.
func (ps *Pictures) IsStale(p *Picture) bool { return p.Kind == Staged && ps.Stale }

// Subject returns the state that an answer describes. It is like [State.Of], but returns [ErrStaleTables] if the
// default state is stale. If the caller names a stale state, it describes the subnet for which its tables were
// computed.
func (st *State) Subject(k Kind) (*Picture, error) {
	p, err := st.Of(k)
	if err == nil && k == "" && st.IsStale(p) {
		return nil, ErrStaleTables
	}
	return p, err
}

// FreshTablesOf is like [State.Subject], but returns an error if the state has no tables.
func (st *State) FreshTablesOf(k Kind) (*Picture, error) {
	if _, err := st.Subject(k); err != nil {
		return nil, err
	}
	return st.TablesOf(k)
}

// changedWord marks the title of a state that lacks changes of the live subnet; see [Pictures.Diverged].
const changedWord = "LIVE HAS CHANGED"

// Title returns the title of a state for people, such as "staged (minhop, not written, stale)".
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
		switch diverged := st.Diverged(p) != ""; {
		case st.Stale && diverged:
			words = append(words, "STALE since the live subnet changed")
		case st.Stale:
			words = append(words, "STALE since the what-if changed")
		case diverged:
			words = append(words, changedWord)
		}
		return "staged (" + strings.Join(words, ", ") + ")"
	case p.Kind == WhatIf:
		return "whatif (" + st.OnPaper() + prose.When(st.Diverged(p) != "", ", "+changedWord, "") + ")"
	case p.Kind == Base && st.Diverged(p) != "":
		return "base (" + changedWord + ")"
	case p.Kind == Live && st.Lost != "":
		return fmt.Sprintf("live (OLD: the connection was lost, read at %s)", when.Clock(p.When))
	case p.Kind == Live && st.HasStates:
		return fmt.Sprintf("live (as of %s)", when.Text(p.When))
	case p.Kind == Live && len(st.Unanswered) > 0:
		return fmt.Sprintf("live (INCOMPLETE: %s unanswered)", prose.Count(len(st.Unanswered), "question"))
	case p.Entry != nil && p.Simulated != "":
		return fmt.Sprintf("%s (what-if: %s)", p.Kind, fabric.Escape(p.Simulated))
	case p.IsComputed():
		return fmt.Sprintf("%s (%s)", p.Kind, fabric.Escape(string(p.Entry.Kind)))
	}
	return string(p.Kind)
}

// OnPaper returns a text with the numbers of simulated changes, such as "2 failures, 1 repair". It also mentions a
// topology from a file.
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

// LocalPort returns the end port through which the session is connected, or None if the source is a file.
func (st *State) LocalPort() fabric.PortIndex {
	f := st.Live.Fabric
	if st.Source.Offline() || f.SMPort == fabric.None {
		return fabric.None
	}
	return f.EndPortOf(f.SMPort)
}
