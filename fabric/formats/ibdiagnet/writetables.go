// SPDX-License-Identifier: Apache-2.0

package ibdiagnet

import (
	"bufio"
	"io"
	"slices"
	"strconv"
	"time"

	"example.org/ibconsole/fabric"
)

// FarOf returns the content of an ibdiagnet2.far file for the tables: the groups of each switch and their LIDs, and the
// static port of every LID. For a switch without groups the file does not state whether adaptive routing is on.
// O(switches x LIDs).
func FarOf(t *fabric.Tables) *Far {
	a := &Far{Version: 1}
	for i := range t.Fabric.NumSwitches() {
		n := t.Fabric.SwitchNode(i)
		if !t.Known[i] || !n.InSubnet {
			continue
		}
		top := min(t.Top[i], t.LFT.MaxLID)
		s := Switch{GUID: n.GUID, Tables: []Table{{Top: top, Ports: t.LFT.Row(i)[:int(top)+1]}}}
		if t.Adaptive != nil {
			s.adapt(&t.Adaptive.Switches[i])
		}
		a.Switches = append(a.Switches, s)
	}
	return a
}

// adapt adds the adaptive routing of a switch to the static ports in s.
func (s *Switch) adapt(from *fabric.AdaptiveSwitch) {
	if len(from.Groups) == 0 && len(from.Tables) == 0 {
		return
	}
	flag := map[bool]string{false: "0", true: "1"}
	s.Words = []string{"en:", flag[from.Enabled] + ",", "fr_en:", flag[from.FastReroute]}
	for number, group := range from.Groups {
		for sub, ports := range group {
			g := Group{Number: uint16(number), Sub: uint8(sub)}
			for _, p := range ports {
				g.Ports.Add(p)
			}
			s.Groups = append(s.Groups, g)
		}
	}
	static := s.Tables[0]
	s.Tables = nil
	for k := range max(1, len(from.Tables)) {
		top := int(static.Top)
		if k < len(from.Tables) {
			top = max(top, int(from.Tables[k].Top), int(from.Tables[0].Top))
		}
		t := Table{Number: k, Top: uint16(top), Ports: make([]uint8, top+1), Choices: make([]Choice, top+1)}
		for lid := range t.Ports {
			port, e := from.Entry(uint8(k), uint16(lid), static.Port(uint16(lid)))
			t.Ports[lid] = port
			t.Choices[lid] = choice(State(slices.Index(adaptiveStates[:], e.State())), uint16(e.Group()))
		}
		s.Tables = append(s.Tables, t)
	}
}

// WriteFDBs writes ibdiagnet2.fdbs. For a switch that has only table 0, it writes no line with the table number.
// O(entries).
func WriteFDBs(out io.Writer, a *Far, when time.Time) error {
	w := &writer{b: bufio.NewWriterSize(out, 1<<16)}
	w.heading(when)
	for i := range a.Switches {
		s := &a.Switches[i]
		w.line("osm_ucast_mgr_dump_ucast_routes: Switch 0x%016x\nLID    : Port : Hops : Optimal", s.GUID)
		for k := range s.Tables {
			t := &s.Tables[k]
			if t.Number != 0 || len(s.Tables) > 1 || len(t.Ports) == 0 {
				w.line("PLFT_NUM: %d", t.Number)
			}
			for lid := 1; lid < len(t.Ports); lid++ {
				b := append(w.b.AvailableBuffer(), "0x"...)
				b = append(hex4(b, uint16(lid)), " : "...)
				if t.Ports[lid] == fabric.NoPath {
					b = append(b, "UNREACHABLE\n"...)
				} else {
					b = append(three(b, t.Ports[lid]), "  : 00   : yes\n"...)
				}
				w.write(b)
			}
		}
		w.line("")
	}
	return w.flush("forwarding tables")
}

func (w *writer) write(b []byte) {
	if w.err == nil {
		_, w.err = w.b.Write(b)
	}
}

const hexDigits = "0123456789abcdef"

func hex4(b []byte, v uint16) []byte {
	return append(b, hexDigits[v>>12], hexDigits[v>>8&15], hexDigits[v>>4&15], hexDigits[v&15])
}

// three appends a number with three digits.
func three(b []byte, v uint8) []byte { return append(b, '0'+v/100, '0'+v/10%10, '0'+v%10) }

// WriteFar writes ibdiagnet2.far. It omits LIDs whose state is Static and that have no port. O(entries).
func WriteFar(out io.Writer, a *Far, when time.Time) error {
	w := &writer{b: bufio.NewWriterSize(out, 1<<16)}
	w.heading(when)
	w.line("File version: %d", max(a.Version, 1))
	for i := range a.Switches {
		s := &a.Switches[i]
		b := append(w.b.AvailableBuffer(), "\nSwitch 0x"...)
		for shift := 48; shift >= 0; shift -= 16 {
			b = hex4(b, uint16(s.GUID>>shift))
		}
		for _, word := range s.Words {
			b = append(append(b, ' '), word...)
		}
		w.write(append(b, '\n'))
		w.line("Groups Definition:\nGroup  Sub Group  WHBF  Ports\n-----------------------------")
		for _, g := range s.Groups {
			w.group(&g)
		}
		w.line("LFT Definition:")
		for k := range s.Tables {
			w.table(&s.Tables[k])
		}
	}
	return w.flush("adaptive-routing groups")
}

func (w *writer) group(g *Group) {
	b := w.b.AvailableBuffer()
	b = column(strconv.AppendUint(b, uint64(g.Number), 10), 0, 7)
	b = column(strconv.AppendUint(b, uint64(g.Sub), 10), 7, 11)
	b = column(strconv.AppendUint(b, uint64(g.Weight), 10), 18, 6)
	for port := range g.Ports.All() {
		b = append(strconv.AppendUint(b, uint64(port), 10), ',')
	}
	w.write(append(b, '\n'))
}

func (w *writer) table(t *Table) {
	w.line("PLFT_NUM: %d, top: 0x%04x\nLID    Static Port  Lid State  Group\n------------------------------------",
		t.Number, max(int(t.Top), len(t.Ports)-1))
	for lid := 1; lid < len(t.Ports); lid++ {
		c := t.Choice(uint16(lid))
		if c == static && t.Ports[lid] == fabric.NoPath {
			continue
		}
		b := append(w.b.AvailableBuffer(), "0x"...)
		b = append(hex4(b, uint16(lid)), ' ')
		b = column(strconv.AppendUint(b, uint64(t.Ports[lid]), 10), 7, 13)
		b = column(append(b, c.State().String()...), 20, 11)
		b = append(strconv.AppendUint(b, uint64(c.Group()), 10), '\n')
		w.write(b)
	}
}

// column pads b with blanks until the column that starts at the position begin has the given size.
func column(b []byte, begin, size int) []byte {
	for len(b) < begin+size {
		b = append(b, ' ')
	}
	return b
}

// WriteSLVL writes ibdiagnet2.slvl. It writes only tables that were read or computed. O(switches x ports^2).
func WriteSLVL(out io.Writer, f *fabric.Fabric, t *fabric.SL2VL, when time.Time) error {
	w := &writer{b: bufio.NewWriterSize(out, 1<<16)}
	w.heading(when)
	for i := range f.NumNodes() {
		n := &f.Nodes[i]
		ins := 0
		if n.IsSwitch() {
			ins = int(n.NumPorts)
		}
		for in := range ins + 1 {
			for p := range int(n.NumPorts) + 1 {
				if f.PortAt(i, p) == fabric.None || !t.Has(i, uint8(in), uint8(p)) {
					continue
				}
				v := t.VLs(i, uint8(in), uint8(p))
				w.line("0x%016x %d %d 0x%x%x 0x%x%x 0x%x%x 0x%x%x 0x%x%x 0x%x%x 0x%x%x 0x%x%x", n.GUID, in, p,
					v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8], v[9], v[10], v[11], v[12], v[13],
					v[14], v[15])
			}
		}
	}
	return w.flush("SL2VL tables")
}
