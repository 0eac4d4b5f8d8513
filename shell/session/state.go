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
	// Adapter is the port of this machine that was opened last, nil where the source is none.
	Adapter *Adapter

	Pictures

	Settings settings.Settings
	// Sets are hosts that were given a name, in the order of their making.
	Sets HostSets
	// Adapting says that tables which are routed get groups for adaptive routing, on paper.
	Adapting bool
	// Groups are the multicast groups that the session was told of, nil for none.
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

// Pictures are those of the subnet, and what is simulated between them.
type Pictures struct {
	Live, Base, WhatIf, Staged *Picture
	// Stale says that the fabric under the staged tables has changed since they
	// were made.
	Stale bool
	// Written says that the staged tables were written and read back.
	Written bool
	Simulation
}

// Simulation is what failed and was added on paper.
type Simulation struct {
	Failures []failures.Failure
	// past is what an OpenSM would remember that lives through the failures and repairs,
	// of the route before the next one.
	past  compute.Past
	drawn drawn
	// lastBase is the Base of the paper before, where it has tables and the live picture has none.
	lastBase *Picture
	// lastFailure is the number of the last one that there was.
	lastFailure int
}

// Reading is how the subnet was read last.
type Reading struct {
	// Lost is why the connection to the subnet was lost since the last sweep, ""
	// if it was not: what is called live is old then.
	Lost string
	// Unanswered is what did not answer the last sweep, in words.
	Unanswered   []string
	unansweredAt []sweep.Unanswered
	// Duplicates are the GUIDs and LIDs that two claim.
	Duplicates []sweep.Duplicate
	// Warnings are what the last sweep or reading of a file noticed.
	Warnings []string
	// Unread is what could not be read of the file that the subnet comes from.
	Unread unread.List
	// Names are the descriptions that a node-name map gives, by node GUID, nil where none was loaded.
	Names map[uint64]string
	// Every is how often the subnet is swept in the background, 0 for never.
	Every time.Duration
	// WatchFailed is why the last sweep in the background failed, "" if it did not.
	WatchFailed string
	// SweepTook is how long the last sweep took, a light one too.
	SweepTook time.Duration
	// Unsettled says that the last reading of all found the subnet or its forwarding
	// tables other than the one before. Until two readings are the same, light sweeps
	// read all, too.
	Unsettled bool
	// mute are the nodes that were there and do not answer, by GUID.
	mute map[uint64]bool
	// PKeys are the P_Keys of end ports by their GUID, nil where they were not read.
	PKeys map[uint64][]mad.PKey
	// SMs are the subnet managers that were seen.
	SMs []managers.SM
	// HasStates is true for a file that states which of its ports are up.
	HasStates bool
}

// News is what sweeps found to be new.
type News struct {
	// Events are what sweeps found, the latest last.
	Events []Event
	// recordedTo is when the last event was that the history has.
	recordedTo time.Time
}

// Counts are what ports counted.
type Counts struct {
	// Recording says that what ports count is recorded in the background.
	Recording bool
	// Counted is what ports counted between the last two readings of all counters,
	// nil where there were no two.
	Counted *Counted
	// Rising is what a recorder read last of errors and waits alone, nil where none has.
	Rising *Counted
	// Uncounted are the ports that did not answer the last reading of all counters, nil where any port did.
	Uncounted []counters.Unanswered
	// Standing are the counters that stood at their greatest value when they were read last.
	Standing map[counters.Key][]counters.Standing
	// Read is what the file of the subnet says that ports had counted, nil for nothing.
	Read *counters.Reading
}

// Expected is what the subnet is to be like, and what it lacks.
type Expected struct {
	// Losses are the links and nodes that the live subnet had, as this session or the history knows, and has not now. A
	// baseline that is saved accepts them.
	Losses losses.List
	// Baseline is what the subnet is to be like, nil for none.
	Baseline *Baseline
}

// Evidence is what is known of the subnet manager that routes the live subnet.
type Evidence struct {
	// Estimate says that tables computed with the settings are not what the
	// switches hold, so that a what-if only estimates what their subnet manager
	// would do.
	Estimate bool
	manager  managers.Info
	// Calibrated is the last calibration, nil for none.
	Calibrated *calibration.Calibration
	// sls are the SLs of the live paths, nil where they are not known.
	sls *liveSLs
}

// Commits are what was written, and what became of it.
type Commits struct {
	WriteOn bool
	// Unlogged says why the log of the machine has not taken a write, "" where it has.
	Unlogged string
	// Committed is the picture that the last commit wrote, nil before that; at the
	// last sweep Drift entries were others, and Unchecked switches were not read.
	Committed *Picture
	Drift     int
	Unchecked int
	// Interrupted says which commit of this subnet began once and did not come to
	// its end, "" for none.
	Interrupted string
}

// Running is the operation that runs.
type Running struct {
	// Busy names it, "" if none does.
	Busy        string
	Done, Total int
	// Writing is what a commit that runs is writing, nil before it writes.
	Writing *Writing
}

// recalls find pictures of the history.
type recalls struct {
	recall   func(id int64) (*Picture, error)
	recallAt func(time.Time) (*Picture, error)
}

// Writing says what a commit is writing.
type Writing = apply.Progress

// Adapter is a port of an adapter of this machine.
type Adapter struct {
	CA   string
	Port int
}

// UnansweredAt is Unanswered by place.
func (rd *Reading) UnansweredAt() []sweep.Unanswered { return rd.unansweredAt }

// Default is the picture that a reading command takes when it is not told one:
// staged if there, else whatif, else live.
func (ps *Pictures) Default() *Picture {
	switch {
	case ps.Staged != nil:
		return ps.Staged
	case ps.WhatIf != nil:
		return ps.WhatIf
	}
	return ps.Live
}

// Paper is the fabric that routes are computed for: that of the what-if if
// there is one, else the live one.
func (ps *Pictures) Paper() *fabric.Fabric {
	if ps.WhatIf != nil {
		return ps.WhatIf.Fabric
	}
	return ps.Live.Fabric
}

// stale reports whether the staged tables were made for another fabric than the
// paper's: neither as it was then, nor as it is once their LIDs are written.
func (ps *Pictures) stale() bool {
	if ps.Staged == nil {
		return false
	}
	paper := ps.Paper()
	return !fabric.Same(ps.Staged.madeOf, paper) && !fabric.Same(ps.Staged.Fabric, paper)
}

// PaperBase is what the paper is compared with: its base, or the live picture.
func (ps *Pictures) PaperBase() *Picture {
	if ps.Base != nil {
		return ps.Base
	}
	return ps.Live
}

// tables are those of all pictures.
func (ps *Pictures) tables() []*fabric.Tables {
	var all []*fabric.Tables
	for _, p := range []*Picture{ps.Live, ps.Base, ps.WhatIf, ps.Staged} {
		if p != nil && p.Tables != nil {
			all = append(all, p.Tables)
		}
	}
	return all
}

// Of returns the picture of that name, the default one for "".
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
			return nil, fmt.Errorf("there is no what-if: nothing has failed on paper (try: fail link SWITCH PORT)")
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
			return nil, fmt.Errorf("no picture is called %q, expected live, base, whatif, staged, the number of a "+
				"history entry or a time", k)
		}
		return st.recall(id)
	}
	return p, nil
}

// TablesOf is like [State.Of] for a picture that must have tables.
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

// ErrStaleTables says that a command was not told which state to take, and that the tables that are staged are stale.
var ErrStaleTables = errors.New(isStaleText + "; route first, or name the state (of=staged, of=whatif)")

const isStaleText = "the staged tables are stale: the what-if changed after they were computed"

// IsStale reports whether a picture is of staged tables that are stale.
func (ps *Pictures) IsStale(p *Picture) bool { return p.Kind == Staged && ps.Stale }

// Subject is the state that an answer describes: like [State.Of], but it fails with [ErrStaleTables] rather than take
// stale tables without being told. Those that are named are described in the subnet for which they were computed.
func (st *State) Subject(k Kind) (*Picture, error) {
	p, err := st.Of(k)
	if err == nil && k == "" && st.IsStale(p) {
		return nil, ErrStaleTables
	}
	return p, err
}

// FreshTablesOf is [State.Subject] for a state that must have tables.
func (st *State) FreshTablesOf(k Kind) (*Picture, error) {
	if _, err := st.Subject(k); err != nil {
		return nil, err
	}
	return st.TablesOf(k)
}

// Title names a picture for people: "staged (minhop, not written, stale)".
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

// OnPaper counts what has happened on paper, "2 failures, 1 repair", and says whether the
// topology is that of a file.
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

// LocalPort is the end port that the session sits on, None for a file.
func (st *State) LocalPort() fabric.PortIndex {
	f := st.Live.Fabric
	if st.Source.Offline() || f.SMPort == fabric.None {
		return fabric.None
	}
	return f.EndPortOf(f.SMPort)
}
