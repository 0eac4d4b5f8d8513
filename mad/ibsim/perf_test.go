// SPDX-License-Identifier: Apache-2.0

package ibsim_test

import (
	"fmt"
	"regexp"
	"strconv"
	"testing"

	"example.org/ibconsole/mad"
	"example.org/ibconsole/mad/ibsim"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
)

var counterLine = regexp.MustCompile(`(?m)^(\w+):\.*(\S+)$`)

// perfquery returns the output of perfquery for a port.
func perfquery(t *testing.T, s *ibsimtest.Sim, args ...string) map[string]uint64 {
	t.Helper()
	printed := map[string]uint64{}
	for _, m := range counterLine.FindAllStringSubmatch(s.Output("perfquery", args...), -1) {
		n, err := strconv.ParseUint(m[2], 0, 64)
		if err != nil {
			t.Fatalf("perfquery: %q", m[0])
		}
		printed[m[1]] = n
	}
	return printed
}

// Each counter has a value of its own, on a port without traffic, as perfquery reads them.
func TestAgainstPerfquery(t *testing.T) {
	s := ibsimtest.Start(t, netFile)
	ibsimtest.OpenSM(t, s)
	for i, name := range []string{
		"SymbolErrorCounter", "LinkErrorRecoveryCounter", "LinkDownedCounter", "PortRcvErrors",
		"PortRcvRemotePhysicalErrors",
		"PortRcvSwitchRelayErrors", "PortXmitDiscards", "PortXmitConstraintErrors", "PortRcvConstraintErrors",
		"LocalLinkIntegrityErrors", "ExcessiveBufferOverrunErrors", "VL15Dropped", "PortXmitData", "PortRcvData",
		"PortXmitPkts", "PortRcvPkts", "PortXmitWait",
	} {
		if out := s.Console(fmt.Sprintf(`PerformanceSet "S-0002c90300a00020"[8] PortCounters.%s=%d`, name, 3+i)); len(
			out) > 0 && out[0] == '#' {
			t.Logf("ibsim: %s", out)
		}
	}
	c := client(t, ibsim.Options{Name: s.Name}, mad.ClientOptions{})
	info, err := c.PortInfo(t.Context(), path(t, "0,1"), 0)
	if err != nil {
		t.Fatal(err)
	}
	lid := fmt.Sprint(info.LID)
	p, err := mad.Perf(t.Context(), c, mad.MethodGet, info.LID, 0, mad.PortCounters{PortSelect: 8})
	if err != nil {
		t.Fatal(err)
	}
	// perfquery's QP1Dropped is left out: it prints VL15Dropped there.
	printed, different := perfquery(t, s, lid, "8"), map[uint64]bool{}
	for name, got := range map[string]uint64{
		"PortSelect": uint64(p.PortSelect), "SymbolErrorCounter": uint64(p.SymbolErrors),
		"LinkErrorRecoveryCounter": uint64(p.LinkErrorRecovery), "LinkDownedCounter": uint64(p.LinkDowned),
		"PortRcvErrors": uint64(p.RcvErrors), "PortRcvRemotePhysicalErrors": uint64(p.RcvRemotePhysical),
		"PortRcvSwitchRelayErrors": uint64(p.RcvSwitchRelay), "PortXmitDiscards": uint64(p.XmitDiscards),
		"PortXmitConstraintErrors":     uint64(p.XmitConstraintErrors),
		"PortRcvConstraintErrors":      uint64(p.RcvConstraintErrors),
		"LocalLinkIntegrityErrors":     uint64(p.LocalLinkIntegrity),
		"ExcessiveBufferOverrunErrors": uint64(p.BufferOverruns),
		"VL15Dropped":                  uint64(p.VL15Dropped), "PortXmitData": uint64(p.XmitData),
		"PortRcvData": uint64(p.RcvData), "PortXmitPkts": uint64(p.XmitPackets), "PortRcvPkts": uint64(p.RcvPackets),
		"PortXmitWait": uint64(p.XmitWait),
	} {
		if want, ok := printed[name]; !ok || got != want {
			t.Errorf("%s is %d, perfquery says %d, %v", name, got, want, ok)
		}
		different[got] = true
	}
	if len(different) < 15 {
		t.Errorf("only %d different values: %v", len(different), printed)
	}
	x, err := mad.Perf(t.Context(), c, mad.MethodGet, info.LID, 0, mad.PortCountersExtended{PortSelect: 1})
	if err != nil {
		t.Fatal(err)
	}
	if more := perfquery(t, s, "-x", lid, "1"); x.XmitPackets == 0 || more["PortXmitPkts"] < x.XmitPackets ||
		more["PortRcvData"] < x.RcvData {
		t.Errorf("%+v, and then perfquery says %v", x, more)
	}
	a, err := mad.Perf(t.Context(), c, mad.MethodGet, info.LID, 0, mad.ClassPortInfo{})
	if err != nil || a.CapabilityMask != mad.PerfAllPortSelect|mad.PerfExtendedWidth|mad.PerfXmitWait {
		t.Errorf("%+v, %v", a, err)
	}
	cleared, err := mad.Perf(t.Context(), c, mad.MethodSet, info.LID, 0,
		mad.PortCounters{PortSelect: 8, CounterSelect: 0xffff})
	if err != nil || cleared.SymbolErrors != 0 || cleared.XmitPackets != 0 ||
		perfquery(t, s, lid, "8")["PortRcvErrors"] != 0 {
		t.Errorf("cleared: %+v, %v", cleared, err)
	}
}

// A switch reports a failed link to the subnet manager, and so to this client.
func TestTraps(t *testing.T) {
	s := ibsimtest.Start(t, netFile)
	ibsimtest.OpenSM(t, s) // leaves LIDs and the LID of the subnet manager
	traps := make(chan mad.Trap, 8)
	c := client(t, ibsim.Options{Name: s.Name, Traps: true}, mad.ClientOptions{Traps: traps})
	s.Console(`Unlink "S-0002c90300a00020"[2]`)
	for range 2 {
		select {
		case trap := <-traps:
			if n := trap.Notice; n.Trap != mad.TrapLinkState || n.LID() != trap.SLID ||
				n.Producer != uint32(mad.NodeSwitch) {
				t.Errorf("from LID %d: %v", trap.SLID, &n)
			}
		case <-t.Context().Done():
			t.Fatal("no trap")
		}
	}
	if st := c.Stats(); st.Traps != 2 || st.Sent != 0 {
		t.Errorf("%+v", st)
	}
}
