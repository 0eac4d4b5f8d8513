// SPDX-License-Identifier: Apache-2.0

package sweep_test

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/sim"
	"example.org/ibconsole/fabric/sweep"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad"
)

// wire counts requests and may change answers.
type wire struct {
	mad.Transport
	mu     sync.Mutex
	sets   int
	own    int // requests for vendor attributes
	change func(attr mad.AttrID, f *mad.Frame) (lost bool)
}

func attrOf(f *mad.Frame) mad.AttrID {
	return mad.AttrID(binary.BigEndian.Uint16(f.Data[mad.OffAttr:]))
}

func (w *wire) Send(f *mad.Frame) error {
	w.mu.Lock()
	if mad.Method(f.Data[mad.OffMethod]) == mad.MethodSet {
		w.sets++
	}
	if attrOf(f) >= 0xff00 {
		w.own++
	}
	w.mu.Unlock()
	return w.Transport.Send(f)
}

func (w *wire) Recv(f *mad.Frame) error {
	for {
		if err := w.Transport.Recv(f); err != nil || w.change == nil || f.Status != 0 || !w.change(attrOf(f), f) {
			return err
		}
	}
}

// adapting returns tables whose switches use all kinds of adaptive routing that the attributes can express.
func adapting(r *rand.Rand, t *fabric.Tables) *fabric.Tables {
	out := *t
	out.Adaptive = &fabric.Adaptive{Switches: make([]fabric.AdaptiveSwitch, len(t.Fabric.Switches))}
	for s := range out.Adaptive.Switches {
		sw := &out.Adaptive.Switches[s]
		*sw = fabric.AdaptiveSwitch{Enabled: r.IntN(4) > 0, FastReroute: r.IntN(2) == 0, SLs: 0xffff, HashSLs: 0xffff}
		if r.IntN(2) == 0 {
			sw.SLs = uint16(r.IntN(1 << 16))
		}
		for range 1 + r.IntN(9) {
			var ports []uint8
			for p := range t.Fabric.SwitchNode(fabric.SwitchIndex(s)).NumPorts {
				if r.IntN(3) == 0 {
					ports = append(ports, p+1)
				}
			}
			var group fabric.PortGroup
			if ports != nil {
				group = fabric.PortGroup{ports}
			}
			sw.Groups = append(sw.Groups, group)
		}
		table := fabric.AdaptiveTable{Top: t.Top[s], Entries: make([]fabric.AdaptiveEntry, int(t.Top[s])+1)}
		for lid := range table.Entries {
			if state := fabric.AdaptiveState(r.IntN(4)); lid > 0 && state != fabric.StateStatic {
				table.Entries[lid] = fabric.NewAdaptiveEntry(state, r.IntN(len(sw.Groups)))
			}
		}
		sw.Tables = []fabric.AdaptiveTable{table}
	}
	return &out
}

// adaptiveSubnet returns a fabric whose switches route adaptively and have the given vendor.
func adaptiveSubnet(t *testing.T, vendor uint32) (*fabric.Tables, *wire) {
	t.Helper()
	f, tables, _ := routed(t, "fattree:2,8")
	tables = adapting(testenv.Rand(t), tables)
	return tables, &wire{
		Transport: open(t, sim.New(f, sim.Options{Tables: tables, SendBack: true, Vendor: vendor}), f.SMPort),
	}
}

func (w *wire) sweep(t *testing.T) *sweep.Result {
	t.Helper()
	return full(t, client(t, w, mad.ClientOptions{Timeout: 100 * time.Millisecond}), sweep.Options{Adaptive: true})
}

// bySwitch returns the known adaptive tables by switch GUID.
func bySwitch(t *fabric.Tables) map[uint64]fabric.AdaptiveSwitch {
	out := map[uint64]fabric.AdaptiveSwitch{}
	for s := range t.Fabric.NumSwitches() {
		if t.Adaptive != nil && t.Adaptive.Switches[s].Tables != nil {
			out[t.Fabric.SwitchNode(s).GUID] = t.Adaptive.Switches[s]
		}
	}
	return out
}

// TestAdaptive checks that adaptive-routing attributes are read correctly and nothing is written.
func TestAdaptive(t *testing.T) {
	tables, w := adaptiveSubnet(t, fabric.VendorMellanox)
	res := w.sweep(t)
	clean(t, res)
	if d := cmp.Diff(bySwitch(tables), bySwitch(res.Tables)); d != "" {
		t.Error(d)
	}
	if w.sets != 0 {
		t.Errorf("%d Sets", w.sets)
	}
}

// TestAdaptiveOfOthers checks that switches of other vendors are not asked.
func TestAdaptiveOfOthers(t *testing.T) {
	_, w := adaptiveSubnet(t, 0x119f)
	res := w.sweep(t)
	if res.Tables.Adaptive != nil || w.own != 0 || len(res.Warnings) != 1 ||
		!strings.Contains(res.Warnings[0], "no switch reports it") {
		t.Errorf("%d questions; %q", w.own, res.Warnings)
	}
}

// TestAdaptiveAgainstTables checks that a switch whose adaptive table contradicts its forwarding table, one that uses
// sub-groups, and one with a missing block are reported and ignored, and one with private tables is reported. All
// others are accepted.
func TestAdaptiveAgainstTables(t *testing.T) {
	tables, w := adaptiveSubnet(t, fabric.VendorMellanox)
	f := tables.Fabric
	routes := sweep.NewRoutes(f)
	var paths []mad.Path
	for s := range 4 {
		p, err := routes.ToNode(f.Switches[s])
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, p)
	}
	w.change = func(attr mad.AttrID, frame *mad.Frame) bool {
		at := slices.IndexFunc(paths, func(p mad.Path) bool { return routeOf(frame) == p.String() })
		data := frame.Data[mad.OffData:]
		switch {
		case at == 0 && attr == mad.AttrAdaptiveRoutingLFT:
			data[4*3+1] ^= 1 // the port of the fourth LID
			data[4*3+3] ^= 1 // which is the group where it is static
		case at == 1 && attr == mad.AttrAdaptiveRoutingInfo:
			data[2] |= 2
		case at == 2 && attr == mad.AttrAdaptiveRoutingGroupTable:
			return true
		case at == 3 && attr == mad.AttrPrivateLFTInfo:
			data[3], data[1] = 1, 2
		}
		return false
	}
	res := w.sweep(t)
	want := bySwitch(tables)
	for s := range 3 {
		delete(want, f.SwitchNode(fabric.SwitchIndex(s)).GUID)
	}
	if d := cmp.Diff(want, bySwitch(res.Tables)); d != "" {
		t.Error(d)
	}
	warnings := strings.Join(res.Warnings, "\n")
	for i, why := range []string{"whose static ports differ from their forwarding tables (LID 3 first)",
		"use sub-groups",
		"not all read", "private forwarding tables"} {
		name := f.NodeName(f.Switches[i])
		if !slices.ContainsFunc(res.Warnings, func(s string) bool {
			return strings.Contains(s, why) && strings.Contains(s, "("+name+")")
		}) {
			t.Errorf("%s: no warning %q:\n%s", name, why, warnings)
		}
	}
	if len(res.Unanswered) != 1 || res.Unanswered[0].Attr != mad.AttrAdaptiveRoutingGroupTable {
		t.Errorf("unanswered: %v", res.Unanswered)
	}
	if w.sets != 0 {
		t.Errorf("%d Sets", w.sets)
	}
}

// routeOf returns the directed route of a frame.
func routeOf(f *mad.Frame) string {
	p, err := mad.Path{}.Append(f.Data[mad.OffInitialPath+1:][:f.Data[mad.OffHopCount]]...)
	if err != nil {
		return err.Error()
	}
	return p.String()
}
