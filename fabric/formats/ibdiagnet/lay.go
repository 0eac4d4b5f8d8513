// SPDX-License-Identifier: Apache-2.0

package ibdiagnet

import (
	"fmt"
	"strings"

	"example.org/ibconsole/fabric"
)

// Tables returns the tables of number 0 on a fabric, with what could not be taken in words that begin with the file's
// name. Those of switches that the file does not have are not Known. O(switches x LIDs).
func (a *Far) Tables(f *fabric.Fabric, name string) (*fabric.Tables, []string, error) {
	if f.MaxLID == 0 {
		return nil, nil, fmt.Errorf("%s: the subnet has no LIDs", fabric.Escape(name))
	}
	t := fabric.NewTables(f, fabric.NewLFT(len(f.Switches), f.MaxLID), fabric.Escape(name))
	clear(t.Known)
	rep := laid{name: fabric.Escape(name)}
	for i := range a.Switches {
		rep.lay(t, &a.Switches[i])
	}
	for s, n := range f.Switches {
		if f.Nodes[n].InSubnet && !t.Known[s] {
			rep.missing.add(f.NodeName(n))
		}
	}
	return t, rep.lines(), nil
}

// laid says what of the tables was not taken.
type laid struct {
	name                                                  string
	unknown, missing, again, ports, beyond, private, none tally
}

func (l *laid) lay(t *fabric.Tables, s *Switch) {
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

func (l *laid) lines() []string {
	var out []string
	for _, k := range []struct {
		t    *tally
		what string
	}{
		{&l.unknown, "switches of the file are not in the subnet, passed over"},
		{&l.missing, "switches of the subnet have no table in the file"},
		{&l.none, "switches have private tables and none with number 0"},
		{&l.again, "switches have a second table, which took the place of the first"},
		{&l.ports, "entries name a port that their switch does not have, passed over"},
		{&l.beyond, "entries are for LIDs above the highest of the subnet, passed over"},
		{&l.private, "private tables are kept apart: paths are those of table 0"},
	} {
		out = append(out, k.t.lines(l.name, k.what)...)
	}
	return out
}

// tally counts one kind of thing and keeps the first few.
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

// lines returns a sentence, none for nothing.
func (t *tally) lines(name, what string) []string {
	if t.n == 0 {
		return nil
	}
	said := fmt.Sprintf("%s: %s (%d): ", fabric.Escape(name), what, t.n) + strings.Join(t.first, "; ")
	if t.n > len(t.first) {
		said += "; ..."
	}
	return []string{said}
}

// Differ says, in words, where the static ports of far are not those of fdbs: the one cross-check that the files allow.
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
				if was := b.Port(uint16(lid)); was != port && was != fabric.NoPath && port != fabric.NoPath {
					t.add(fmt.Sprintf("LID %d of switch 0x%016x, by port %d and here by %d", lid, s.GUID, was, port))
				}
			}
		}
	}
	return t.lines(farName, "static ports are not those of "+fabric.Escape(fdbsName)+", which are taken")
}
