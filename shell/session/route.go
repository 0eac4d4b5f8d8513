// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"fmt"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/engines"
)

// RouteReport says what [Session.Route] did.
type RouteReport struct {
	Engine string
	// Took is the engine's own wall time.
	Took     time.Duration
	Switches int
	// Entries is the number of LFT entries that lead somewhere.
	Entries int
	// Changed is the number of entries that differ from those of Against, the
	// base of the paper or the live picture. Where that has no tables, all
	// entries changed and Against is empty.
	Changed  int
	Against  Kind
	Assigned int
	Warnings []string
}

// SetEngine chooses the engine for the next routes.
func (s *Session) SetEngine(name string) error {
	if _, err := engines.ByName(name); err != nil {
		return err
	}
	s.update(ChangeSettings, func(st *State) { st.Engine = name })
	return nil
}

// Route computes tables for the what-if, or the live fabric where nothing has
// failed on paper, and stages them.
func (s *Session) Route(ctx context.Context) (RouteReport, error) {
	end, err := s.begin(ctx, "route")
	if err != nil {
		return RouteReport{}, err
	}
	defer end()
	st := s.State()
	engine, err := engines.ByName(st.Engine)
	if err != nil {
		return RouteReport{}, err
	}
	before := st.Paper()
	f, err := fabric.AssignLIDs(before)
	if err != nil {
		return RouteReport{}, fmt.Errorf("assign LIDs: %w", err)
	}
	start := time.Now()
	res, err := engine.Route(ctx, f, routing.Options{Progress: s.progress})
	if err != nil {
		return RouteReport{}, err
	}
	rep := RouteReport{Engine: engine.Name(), Took: time.Since(start), Warnings: res.Warnings}
	rep.Switches, rep.Entries = countEntries(res.Tables)
	rep.Assigned = countAssigned(before, f)
	against := st.Live
	if st.Base != nil {
		against = st.Base
	}
	rep.Changed = rep.Entries
	if against.Tables != nil {
		rep.Against, rep.Changed = against.Kind, countChanged(against.Tables, res.Tables)
	}
	s.stage(&Picture{Kind: Staged, Fabric: f, Tables: res.Tables, Hops: res.Hops, When: time.Now()})
	return rep, nil
}

func (s *Session) stage(p *Picture) {
	s.update(ChangeStaged, func(st *State) { st.Staged, st.Stale, st.Written = p, false, false })
}

// Unstage throws the staged tables away.
func (s *Session) Unstage() {
	s.update(ChangeStaged, func(st *State) { st.Staged, st.Stale, st.Written = nil, false, false })
}

func countEntries(t *fabric.Tables) (switches, entries int) {
	for sw := range t.Fabric.Switches {
		if !t.Known[sw] {
			continue
		}
		switches++
		for _, p := range t.LFT.Row(int32(sw)) {
			if p != fabric.NoPath {
				entries++
			}
		}
	}
	return switches, entries
}

func countAssigned(before, after *fabric.Fabric) int {
	n := 0
	for _, e := range after.EndPorts {
		if before.Ports[e].LID == 0 {
			n++
		}
	}
	return n
}

// countChanged counts the entries that differ, of the switches that both have.
// What a switch is not known to hold counts as leading nowhere.
func countChanged(a, b *fabric.Tables) int {
	n := 0
	for sw, node := range b.Fabric.Switches {
		if !b.Known[sw] {
			continue
		}
		old := a.Fabric.SwitchByGUID(b.Fabric.Nodes[node].GUID)
		for lid := uint16(1); lid <= max(b.Top[sw], topOf(a, old)); lid++ {
			was := uint8(fabric.NoPath)
			if old != fabric.None {
				was = a.Port(old, lid)
			}
			if was != b.Port(int32(sw), lid) {
				n++
			}
		}
	}
	return n
}

func topOf(t *fabric.Tables, sw int32) uint16 {
	if sw == fabric.None {
		return 0
	}
	return t.Top[sw]
}
