// SPDX-License-Identifier: Apache-2.0

package engines_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/osm"
	"example.org/ibconsole/fabric/sweep"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
	"example.org/ibconsole/routing"
)

// TestDisabledPortsEqualOpenSM disables ports of switches with ibportstate and lets OpenSM route. OpenSM and our sweep
// take a link with a disabled port for a lost one, and the tables are equal.
func TestDisabledPortsEqualOpenSM(t *testing.T) {
	repeat(t, 4, 100, 9, func(t *testing.T, r *rand.Rand, _ int) { disablePorts(t, r) })
}

func disablePorts(t *testing.T, r *rand.Rand) {
	var whole *fabric.Fabric
	what := ""
	for whole == nil || len(between(whole)) < 3 {
		what, whole = randomFabric(t, r)
	}
	c := &trial{chain: [][]string{randomChain(r), {"lash"}, {"nue"}}[r.IntN(3)]}
	switch c.chain[0] {
	case "nue":
		c = nueTrial(uint8(r.IntN(9)), r.IntN(2) == 0)
	case "lash":
	default:
		c.opt = randomOptions(r, whole)
	}
	sim := start(t, whole)
	client := ibsimtest.Client(t, sim, whole.Nodes[whole.Ports[whole.SMPort].Node].Desc)
	var lost []fabric.Link
	var disabled []string
	for range 3 {
		links := append(between(whole.Without(lost)), hostLinks(whole.Without(lost))...)
		if len(links) == 0 {
			return
		}
		l := links[r.IntN(len(links))]
		lost = append(lost, l)
		now := whole.Without(lost)
		port := l.A
		if r.IntN(2) == 0 {
			port = l.B
		}
		if n := now.Ports[port].Node; !now.Nodes[n].IsSwitch() || !now.Nodes[n].InSubnet {
			port = l.A + l.B - port
		}
		disable(t, sim, now, port, r.IntN(2) == 0)
		disabled = append(disabled, whole.PortName(port))
		c.more = func(dir string, _ *routing.Result) error { return sameSweep(t, client, dir, now) }
		if err := differs(t, sim, now, c); err != nil {
			t.Fatalf("%s, engines %q, options %+v, ports %q disabled: %v", what, c.chain, c.opt, disabled, err)
		}
	}
}

// disable disables a port of a switch. A disabled port of ibsim stays Active and loses all packets, unless its link is
// unplugged before; then it is Down, as on a real switch.
func disable(t *testing.T, sim *ibsimtest.Sim, f *fabric.Fabric, port fabric.PortIndex, down bool) {
	t.Helper()
	path, err := sweep.NewRoutes(f).ToPort(port)
	if err != nil {
		t.Fatal(err)
	}
	p := &f.Ports[port]
	if down {
		sim.Console(fmt.Sprintf("Unlink %q[%d]", f.Nodes[p.Node].Desc, p.Num))
	}
	cmd := sim.Command(t.Context(), "ibportstate", "-D", path.String(), fmt.Sprint(p.Num), "disable")
	cmd.Env = append(cmd.Env, "SIM_HOST="+f.Nodes[f.Ports[f.SMPort].Node].Desc)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%q: %v\n%s", cmd.Args, err, out)
	}
}

// sameSweep compares the links and the tables of a sweep with those of a fabric and with OpenSM's dump.
func sameSweep(t *testing.T, client *mad.Client, dir string, f *fabric.Fabric) error {
	t.Helper()
	live, err := sweep.Full(t.Context(), client, sweep.Options{})
	if err != nil {
		return err
	}
	want, got := linkNames(f), linkNames(live.Fabric)
	for l := range want {
		if !got[l] {
			return fmt.Errorf("the sweep has no link %s", l)
		}
	}
	if len(got) != len(want) {
		return fmt.Errorf("the sweep has %d links, expected %d", len(got), len(want))
	}
	var ours bytes.Buffer
	if err := osm.WriteLFTs(&ours, live.Tables); err != nil {
		return err
	}
	return differsFrom(filepath.Join(dir, "opensm-lfts.dump"), ours.Bytes())
}

// linkNames returns the links of the subnet, each as the names of its ports, the lower one first.
func linkNames(f *fabric.Fabric) map[string]bool {
	names := map[string]bool{}
	for _, l := range f.Links() {
		if a, b := f.PortName(l.A), f.PortName(l.B); f.Nodes[f.Ports[l.A].Node].InSubnet {
			names[min(a, b)+" - "+max(a, b)] = true
		}
	}
	return names
}
