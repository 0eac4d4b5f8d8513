// SPDX-License-Identifier: Apache-2.0

package ibdiagnet

import (
	"fmt"
	"strings"

	"example.org/ibconsole/fabric"
)

// Tables returns the forwarding tables of a fabric, made of the tables with number 0. The warnings begin with the
// file's name. A switch that is not in the file is not Known in the result. O(switches x LIDs).
func (a *Far) Tables(f *fabric.Fabric, name string) (*fabric.Tables, []string, error) {
	if f.MaxLID == 0 {
		return nil, nil, fmt.Errorf("%s: the subnet has no LIDs", fabric.Escape(name))
	}
	t := fabric.NewTables(f, fabric.NewLFT(len(f.Switches), f.MaxLID), fabric.Escape(name))
	clear(t.Known)
	rep := tableReport{name: fabric.Escape(name)}
	for i := range a.Switches {
		rep.apply(t, &a.Switches[i])
	}
	for s, n := range f.Switches {
		if f.Nodes[n].InSubnet && !t.Known[s] {
			rep.missing.add(f.NodeName(n))
		}
	}
	return t, rep.lines(), nil
}

// tableReport counts the tables and entries of a file that were not applied to the fabric.
type tableReport struct {
	name                                                  string
	unknown, missing, again, ports, beyond, private, none tally
}

func (l *tableReport) apply(t *fabric.Tables, s *Switch) {
	f := t.Fabric
	sw := f.SwitchByGUID(s.GUID)
	if sw == fabric.None || !f.SwitchNode(sw).InSubnet {
		l.unknown.add(fmt.Sprintf("0x%016x", s.GUID))
		return
	}
	at := f.NodeName(f.Switches[sw])
	if t.Known[sw] {
		l.again.add(at)
	}
	for i := range s.Tables {
		if s.Tables[i].Number != 0 {
			l.private.add(fmt.Sprintf("table %d of %s", s.Tables[i].Number, at))
		}
	}
	from := s.Table(0)
	if from == nil {
		l.none.add(at)
		return
	}
	t.Known[sw] = true
	row := t.LFT.Row(sw)
	fabric.FillNoPath(row)
	n := copy(row[:int(f.MaxLID)+1], from.Ports)
	for lid, port := range row[:n] {
		if port != fabric.NoPath && port > f.SwitchNode(sw).NumPorts {
			row[lid] = fabric.NoPath
			l.ports.add(fmt.Sprintf("LID %d by port %d of %s", lid, port, at))
		}
	}
	for lid := n; lid < len(from.Ports); lid++ {
		if from.Ports[lid] != fabric.NoPath {
			l.beyond.add(fmt.Sprintf("LID %d of %s", lid, at))
		}
	}
}

func (l *tableReport) lines() []string {
	var out []string
	for _, k := range []struct {
		t    *tally
		what string
	}{
		{&l.unknown, "switches of the file that are not in the subnet were ignored"},
		{&l.missing, "switches of the subnet have no table in the file"},
		{&l.none, "switches have private tables, but no table 0"},
		{&l.again, "switches have a second table, which replaced the first one"},
		{&l.ports, "entries with a port that their switch does not have were ignored"},
		{&l.beyond, "entries for LIDs above the highest of the subnet were ignored"},
		{&l.private, "private tables are not used: paths follow table 0"},
	} {
		out = append(out, k.t.lines(l.name, k.what)...)
	}
	return out
}

// tally counts occurrences of one fault and keeps the first few as examples.
type tally struct {
	n     int
	first []string
}

const fewExamples = 5

func (t *tally) add(example string) {
	if t.n++; len(t.first) < fewExamples {
		t.first = append(t.first, example)
	}
}

// lines returns a slice with one sentence about the counted occurrences, nil if nothing was counted.
func (t *tally) lines(name, what string) []string {
	if t.n == 0 {
		return nil
	}
	line := fmt.Sprintf("%s: %s (%d): ", fabric.Escape(name), what, t.n) + strings.Join(t.first, "; ")
	if t.n > len(t.first) {
		line += "; ..."
	}
	return []string{line}
}

// Differ returns a warning if static ports in ibdiagnet2.far differ from those in ibdiagnet2.fdbs. The two files are
// not checked against each other in any other way.
func Differ(fdbs, far *Far, fdbsName, farName string) []string {
	at := make(map[uint64]*Switch, len(fdbs.Switches))
	for i := range fdbs.Switches {
		at[fdbs.Switches[i].GUID] = &fdbs.Switches[i]
	}
	var t tally
	for i := range far.Switches {
		s := &far.Switches[i]
		other := at[s.GUID]
		for k := range s.Tables {
			a, b := &s.Tables[k], (*Table)(nil)
			if other != nil {
				b = other.Table(a.Number)
			}
			if b == nil {
				continue
			}
			for lid, port := range a.Ports {
				if want := b.Port(uint16(lid)); want != port && want != fabric.NoPath && port != fabric.NoPath {
					t.add(fmt.Sprintf("LID %d of switch 0x%016x, by port %d and here by %d", lid, s.GUID, want, port))
				}
			}
		}
	}
	return t.lines(farName, "static ports differ from those of "+fabric.Escape(fdbsName)+", which are used")
}
