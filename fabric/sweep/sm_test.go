// SPDX-License-Identifier: Apache-2.0

package sweep_test

import (
	"testing"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/sweep"
	"example.org/ibconsole/mad"
)

// TestSMs finds several subnet managers: one that does not respond despite its bit, and one without the bit at the SM
// LID of the local port.
func TestSMs(t *testing.T) {
	f, _, s := routed(t, "fattree:2,4")
	c := client(t, open(t, s, f.SMPort), mad.ClientOptions{Timeout: time.Minute, Tries: 1})
	find := func() (sweep.SM, bool, []sweep.SM) {
		t.Helper()
		res := full(t, c, sweep.Options{NoTables: true})
		master, ok, others, err := sweep.MasterSM(t.Context(), c, res.Fabric)
		if err != nil {
			t.Fatal(err)
		}
		for i := range others {
			others[i].Port = f.PortByGUID(res.Fabric.Ports[others[i].Port].GUID)
		}
		master.Port = f.PortByGUID(res.Fabric.Ports[master.Port].GUID)
		return master, ok, others
	}
	port := func(i int) fabric.PortIndex { return f.EndPorts[i] }
	info := func(i int, priority uint8, state mad.SMState) *mad.SMInfo {
		return &mad.SMInfo{GUID: f.Ports[port(i)].GUID, Priority: priority, State: state}
	}
	// The SM LID of every port is the local one's, where there is no subnet manager.
	if _, ok, others := find(); ok || len(others) != 0 {
		t.Errorf("subnet managers where there are none: %+v", others)
	}
	s.SetSM(port(3), info(3, 4, mad.SMStandby))
	s.SetSM(port(5), info(5, 2, mad.SMDiscovering))
	if _, ok, others := find(); ok || len(others) != 2 || others[0].Port != port(3) ||
		others[1].Info.State != mad.SMDiscovering {
		t.Errorf("master %v, others %+v", ok, others)
	}
	for _, test := range []struct {
		a, b   uint8 // priorities of the masters on ports 6 and 7
		winner int
	}{{1, 2, 7}, {2, 1, 6}, {3, 3, 6}} {
		s.SetSM(port(6), info(6, test.a, mad.SMMaster))
		s.SetSM(port(7), info(7, test.b, mad.SMMaster))
		master, ok, others := find()
		winner := test.winner
		if f.Ports[port(6)].GUID > f.Ports[port(7)].GUID && test.a == test.b {
			winner = 7
		}
		if !ok || master.Port != port(winner) || len(others) != 3 {
			t.Errorf("priorities %d and %d: master at %s, want %s; others %+v", test.a, test.b, f.PortName(master.Port),
				f.PortName(port(winner)), others)
		}
	}
	s.Silence(f.Ports[port(6)].Node, true)
	res := full(t, c, sweep.Options{NoTables: true})
	if len(res.Unanswered) == 0 {
		t.Error("a silent host is not reported")
	}
}
