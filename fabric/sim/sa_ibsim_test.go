// SPDX-License-Identifier: Apache-2.0

package sim_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
)

// TestRecordsAreOpenSMs compares records of an OpenSM over ibsim and of the simulation: nodes by LID, and paths between
// LIDs.
func TestRecordsAreOpenSMs(t *testing.T) {
	m := newManaged(t, "fattree:2,8", nil, once)
	real := ibsimOf(t, m.f)
	ibsimtest.Master(t, real)
	theirs := &managed{f: m.f, c: ibsimtest.Client(t, real, ""), lid: m.f.Ports[m.f.SMPort].LID}
	compare := func(what string, attr mad.AttrID, mask uint64, size int, fill func([]byte)) {
		t.Helper()
		want, errWant := theirs.ask(t, mad.MethodGet, attr, 0, mask, 0, fill)
		got, errGot := m.ask(t, mad.MethodGet, attr, 0, mask, 0, fill)
		if (errWant == nil) != (errGot == nil) {
			t.Errorf("%s: OpenSM: %v, simulated: %v", what, errWant, errGot)
			return
		}
		var status mad.Status
		if errors.As(errWant, &status) && !errors.Is(errGot, status) {
			t.Errorf("%s: OpenSM: %v, simulated: %v", what, errWant, errGot)
		}
		if errWant == nil && string(got[:size]) != string(want[:size]) {
			t.Errorf("%s:\nOpenSM    %x\nsimulated %x", what, want[:size], got[:size])
		}
	}
	for _, port := range m.f.EndPorts {
		lid := m.f.Ports[port].LID
		compare("node", nodeRecord, 1<<0, 112, func(r []byte) { be.PutUint16(r, lid) })
	}
	compare("no node", nodeRecord, 1<<0, 0, func(r []byte) { be.PutUint16(r, 4000) })
	compare("many nodes", nodeRecord, 0, 0, nil)
	compare("no source", pathRecord, 1<<4, 0, func(r []byte) { be.PutUint16(r[40:], 1) })
	compare("unknown attribute", 0x99, 0, 0, nil)
	rnd := testenv.Rand(t)
	for range 60 {
		src := m.f.Ports[m.f.EndPorts[rnd.IntN(len(m.f.EndPorts))]].LID
		dst := m.f.Ports[m.f.EndPorts[rnd.IntN(len(m.f.EndPorts))]].LID
		compare("path", pathRecord, 1<<4|1<<5|1<<12, 64, func(r []byte) {
			be.PutUint16(r[40:], dst)
			be.PutUint16(r[42:], src)
			r[49] = 1
		})
		value := uint8(rnd.IntN(4)<<6 | rnd.IntN(23)) // this OpenSM has no rates above 22
		for _, c := range []struct{ selector, at int }{{16, 54}, {18, 55}, {20, 56}} {
			what := fmt.Sprintf("path with selector %d and value %d at byte %d", value>>6, value&0x3f, c.at)
			compare(what, pathRecord, 1<<4|1<<5|1<<12|0b11<<c.selector, 64, func(r []byte) {
				be.PutUint16(r[40:], dst)
				be.PutUint16(r[42:], src)
				r[49], r[c.at] = 1, value
			})
		}
	}
}

// TestPerfIsIbsims compares performance management of a real ibsim and the simulation after setting errors at both.
// Data and packets are not compared, because ibsim counts those of the test.
func TestPerfIsIbsims(t *testing.T) {
	m := newManaged(t, "fattree:2,8", nil, once)
	s := ibsimOf(t, m.f)
	ibsimtest.Master(t, s)
	real := ibsimtest.Client(t, s, "")
	rnd := testenv.Rand(t)
	for _, port := range m.f.EndPorts {
		p := &m.f.Ports[port]
		n := &m.f.Nodes[p.Node]
		both := func(method mad.Method, a mad.GSIAttribute) {
			t.Helper()
			req := mad.PerfRequest(method, p.LID, 0, a)
			want, errWant := real.Do(t.Context(), &req)
			got, errGot := m.c.Do(t.Context(), &req)
			if (errWant == nil) != (errGot == nil) || errWant != nil && errWant.Error() != errGot.Error() {
				t.Fatalf("%v: ibsim: %v, simulated: %v", a.AttrID(), errWant, errGot)
			}
			for _, b := range []*[mad.DataSize]byte{&want, &got} {
				switch a.AttrID() {
				case mad.AttrPortCounters:
					clear(b[24:40])
				case mad.AttrPortCountersExtended:
					clear(b[8:])
				}
			}
			if want != got {
				t.Errorf("LID %d %v %v:\nibsim     %x\nsimulated %x", p.LID, method, a.AttrID(), want, got)
			}
		}
		num := uint8(1 + rnd.IntN(int(n.NumPorts)))
		if !n.IsSwitch() {
			num = p.Num
		}
		var errs mad.PortCountersExtended
		for field, counter := range map[string]*uint64{
			"SymbolErrorCounter": &errs.SymbolErrors, "LinkDownedCounter": &errs.LinkDowned,
			"PortRcvErrors":    &errs.RcvErrors,
			"PortXmitDiscards": &errs.XmitDiscards, "LocalLinkIntegrityErrors": &errs.LocalLinkIntegrity,
			"VL15Dropped": &errs.VL15Dropped,
		} {
			if !n.IsSwitch() {
				break
			}
			*counter = uint64(1 + rnd.IntN(15))
			output := s.Console(fmt.Sprintf("PerformanceSet %q[%d] PortCounters.%s=%d", m.f.NodeName(p.Node), num,
				field, *counter))
			if strings.Contains(output, "not") {
				t.Fatal(output)
			}
		}
		m.s.SetCounters(n.FirstPort+fabric.PortIndex(num), errs)
		both(mad.MethodGet, &mad.ClassPortInfo{})
		both(mad.MethodGet, &mad.PortCountersExtended{PortSelect: num})
		for _, selected := range []uint8{num, mad.AllPorts, n.NumPorts + 1} {
			both(mad.MethodGet, &mad.PortCounters{PortSelect: selected})
		}
		both(mad.MethodSet, &mad.PortCounters{
			PortSelect: num, CounterSelect: uint16(rnd.Uint32()), CounterSelect2: uint8(rnd.IntN(2)),
		})
		both(mad.MethodGet, &mad.PortCounters{PortSelect: num})
	}
}
