// SPDX-License-Identifier: Apache-2.0

package osm

import (
	"fmt"
	"slices"

	"example.org/ibconsole/fabric"
)

// Apply returns the forwarding tables that the file gives to a subnet, like OpenSM's file engine (osm_ucast_file.c). It
// skips tables of switches that are not in the subnet. For a switch without a table in the file, all entries are
// [fabric.NoPath] and the switch is not Known.
//
// If the port with an entry's port GUID now has another LID, the entry moves to that LID and keeps the low LMC bits. If
// a LID has two entries or a switch has two tables, the later one counts.
//
// Apply returns an error with file and line for a port that the switch does not have. It also returns an error if f has
// no LIDs. O(entries).
func (r *RouteFile) Apply(f *fabric.Fabric) (*fabric.Tables, Report, error) {
	a := applier{file: r, f: f, owner: make([]fabric.PortIndex, len(r.guids))}
	if f.MaxLID == 0 {
		return nil, a.report, fmt.Errorf("apply %s: the subnet has no LIDs", r.Name)
	}
	a.stays = make([]lidRange, len(r.guids))
	for i, guid := range r.guids {
		a.owner[i] = f.PortByGUID(guid)
		if p := a.owner[i]; p != fabric.None && f.Ports[p].LID != 0 && int(f.Ports[p].LID)+
			1<<f.Ports[p].LMC <= int(f.MaxLID)+1 {
			a.stays[i] = lidRange{f.Ports[p].LID, 1 << f.Ports[p].LMC}
		}
	}
	a.t = fabric.NewTables(f, fabric.NewLFT(len(f.Switches), f.MaxLID), r.Name)
	clear(a.t.Known)
	for i := range r.sections {
		if err := a.section(&r.sections[i]); err != nil {
			return nil, a.report, err
		}
	}
	a.finish()
	return a.t, a.report, nil
}

// lidRange holds the n LIDs from first on.
type lidRange struct{ first, n uint16 }

func (r lidRange) has(lid uint16) bool { return lid-r.first < r.n }

type applier struct {
	file   *RouteFile
	f      *fabric.Fabric
	t      *fabric.Tables
	owner  []fabric.PortIndex // end port by GUID index
	report Report
	// stays holds, by GUID index, the LIDs for which entries with the GUID need no remapping. The range is empty if
	// entries with the GUID need further checks.
	stays []lidRange
	// straight is the latest list of targets for which isStraight returned true.
	straight []target
	// moved, strange and unaddressed mark the LIDs, GUIDs and ports that the report has already counted.
	moved       [1 << 16]bool
	strange     []bool
	unaddressed map[fabric.PortIndex]bool
}

func (a *applier) section(s *routeSection) error {
	sw := a.f.SwitchByGUID(s.guid)
	if sw == fabric.None || !a.f.SwitchNode(sw).InSubnet {
		a.report.UnknownSwitches.add(func() string { return guidAndName(s.guid, s.name) })
		return nil
	}
	row := a.t.LFT.Row(sw)
	if a.t.Known[sw] {
		a.report.Repeated.add(func() string {
			return fmt.Sprintf("%s again on line %d", a.f.NodeName(a.f.Switches[sw]), s.line)
		})
		for i := range row {
			row[i] = fabric.NoPath
		}
	} else {
		a.report.Switches++
	}
	a.t.Known[sw] = true
	if !s.ended {
		a.report.Unended.add(func() string { return fmt.Sprintf("%s on line %d", guidAndName(s.guid, s.name), s.line) })
	}
	ports := a.f.SwitchNode(sw).NumPorts
	if a.isStraight(s.targets) && slices.Max(s.ports) <= ports {
		a.report.Entries += copy(row[s.targets[0].lid:], s.ports)
		return nil
	}
	for i, port := range s.ports {
		e := routeEntry{s.targets[i], port}
		if e.guid >= 0 && e.port <= ports && a.stays[e.guid].has(e.lid) && row[e.lid] == fabric.NoPath {
			row[e.lid] = e.port
			a.report.Entries++
			continue
		}
		if e.port > ports {
			return fmt.Errorf("%s:%d: an entry has port %d, but switch %s has ports 0 to %d",
				a.file.Name, a.file.lineOf(s.first+i), e.port, guidAndName(s.guid, a.f.SwitchNode(sw).Desc),
				a.f.SwitchNode(sw).NumPorts)
		}
		a.enter(sw, row, e, s.first+i)
	}
	return nil
}

// isStraight reports whether targets are consecutive LIDs that their ports still have. The ports of such a table can be
// copied at once. Most tables of a file have the same targets.
func (a *applier) isStraight(targets []target) bool {
	if len(targets) == 0 {
		return false
	}
	if len(a.straight) == len(targets) && &a.straight[0] == &targets[0] {
		return true
	}
	for i, t := range targets {
		if t.guid < 0 || !a.stays[t.guid].has(t.lid) || int(t.lid) != int(targets[0].lid)+i {
			return false
		}
	}
	a.straight = targets
	return true
}

func (a *applier) enter(sw fabric.SwitchIndex, row []byte, e routeEntry, number int) {
	lid, ok := a.remap(e)
	if !ok {
		return
	}
	if lid > a.f.MaxLID {
		a.report.BeyondMaxLID.add(func() string { return fmt.Sprintf("LID %d on line %d", lid, a.file.lineOf(number)) })
		return
	}
	if old := row[lid]; old != fabric.NoPath && old != e.port {
		a.report.Collisions.add(func() string {
			return fmt.Sprintf("%s: LID %d by port %d, on line %d by port %d",
				a.f.NodeName(a.f.Switches[sw]), lid, old, a.file.lineOf(number), e.port)
		})
	}
	row[lid] = e.port
	a.report.Entries++
}

// remap returns the LID of an entry in this subnet (osm_ucast_file.c, remap_lid). ok is false if the port of the entry
// has no LID.
func (a *applier) remap(e routeEntry) (lid uint16, ok bool) {
	if e.guid < 0 {
		a.report.NoPortGUID.add(func() string { return fmt.Sprintf("LID %d", e.lid) })
		return e.lid, true
	}
	end := a.owner[e.guid]
	if end == fabric.None {
		a.countStrange(e)
		return e.lid, true
	}
	p := &a.f.Ports[end]
	if p.LID == 0 {
		a.countUnaddressed(end)
		return 0, false
	}
	mask := uint16(1)<<p.LMC - 1
	if e.lid >= p.LID && e.lid <= p.LID+mask {
		return e.lid, true
	}
	lid = p.LID + e.lid&mask
	if !a.moved[e.lid] {
		a.moved[e.lid] = true
		a.report.Remapped.add(func() string {
			return fmt.Sprintf("LID %d is now %d, %s", e.lid, lid, a.f.PortName(end))
		})
	}
	return lid, true
}

func (a *applier) countStrange(e routeEntry) {
	if a.strange == nil {
		a.strange = make([]bool, len(a.file.guids))
	}
	if !a.strange[e.guid] {
		a.strange[e.guid] = true
		a.report.UnknownPortGUIDs.add(func() string {
			return fmt.Sprintf("0x%016x at LID %d", a.file.guids[e.guid], e.lid)
		})
	}
}

func (a *applier) countUnaddressed(end fabric.PortIndex) {
	if a.unaddressed == nil {
		a.unaddressed = map[fabric.PortIndex]bool{}
	}
	if !a.unaddressed[end] {
		a.unaddressed[end] = true
		a.report.NoLID.add(func() string { return a.f.PortName(end) })
	}
}

func (a *applier) finish() {
	for s, n := range a.f.Switches {
		if a.f.Nodes[n].InSubnet && !a.t.Known[s] {
			a.report.MissingSwitches.add(func() string { return guidAndName(a.f.Nodes[n].GUID, a.f.Nodes[n].Desc) })
		}
	}
	a.report.Ignored, a.report.NoSwitch = a.file.ignored, a.file.early
	a.report.Multicast, a.report.Lost, a.report.Private = a.file.multicast, a.file.lost, a.file.private
}

func guidAndName(guid uint64, name string) string {
	if name == "" {
		return fmt.Sprintf("0x%016x", guid)
	}
	return fmt.Sprintf("0x%016x (%s)", guid, fabric.Escape(name))
}
