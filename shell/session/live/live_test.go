// SPDX-License-Identifier: Apache-2.0

package live

import (
	"errors"
	"strings"
	"testing"

	"example.org/ibconsole/fabric/livetrace"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
	"example.org/ibconsole/shell/session/pairs"
	"example.org/ibconsole/shell/session/sessiontest"
)

// smaller is [sessiontest.TwoSwitches] without its last host.
var smaller = strings.ReplaceAll(strings.ReplaceAll(sessiontest.TwoSwitches, "[1] \"H2\"[1]\n", ""),
	"Hca	1 \"H2\"		# \"node-2\"\n[1] \"S2\"[1]\n", "")

// restart stops an ibsim and starts another one of the same name with a file.
func restart(t *testing.T, s *ibsimtest.Sim, file string) *ibsimtest.Sim {
	t.Helper()
	s.Stop()
	return ibsimtest.Start(t, file, ibsimtest.Named(s.Name))
}

// TestTraceReconnects checks that a trace opens a lost connection again, and fails if the subnet has changed.
func TestTraceReconnects(t *testing.T) {
	sim := ibsimtest.Start(t, sessiontest.NetFile(t, sessiontest.TwoSwitches))
	s := sessiontest.Open(t, "ibsim:"+sim.Name)
	trace := func() (visited int, err error) {
		f := s.State().Live.Fabric
		pair := pairs.Pair{Src: f.EndPorts[0], LID: 1}
		err = Trace(t.Context(), s, []pairs.Pair{pair}, func(int, *livetrace.Path) { visited++ })
		return visited, err
	}
	if n, err := trace(); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	sim.Stop()
	if n, err := trace(); n != 0 || !errors.Is(err, mad.ErrBroken) {
		t.Errorf("without ibsim: %d, %v", n, err)
	}
	sim = restart(t, sim, sessiontest.NetFile(t, sessiontest.TwoSwitches))
	if n, err := trace(); n != 1 || err != nil {
		t.Errorf("after the restart: %d, %v", n, err)
	}
	sim.Stop()
	_, _ = trace()
	restart(t, sim, sessiontest.NetFile(t, smaller))
	if n, err := trace(); n != 0 || !errors.Is(err, errChanged) {
		t.Errorf("changed subnet: %d, %v", n, err)
	}
	if n, err := trace(); n != 1 || err != nil {
		t.Errorf("repeated trace: %d, %v", n, err)
	}
}
