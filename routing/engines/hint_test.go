// SPDX-License-Identifier: Apache-2.0

package engines_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/osm"
	"example.org/ibconsole/fabric/gen/gentest"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/engines/file"
	"example.org/ibconsole/routing/engines/torus"
	"example.org/ibconsole/routing/engines/updn"
)

// dfsssp counts hops to all LIDs before it finds that it has too few VLs. The engine that routes then determines which
// of them remain in OpenSM's matrix.
func TestHopsOfRefusingEngines(t *testing.T) {
	testenv.Tool(t, "opensm")
	r := testenv.Rand(t)
	f := gentest.Fabric(t, "torus:9x9")
	sim := start(t, f)
	root := []uint64{f.SwitchNode(40).GUID}
	trials := []trial{
		{chain: []string{"dfsssp"}},
		{chain: []string{"dfsssp", "dor"}},
		{chain: []string{"dfsssp", "lash"}},
		{chain: []string{"dfsssp", "ftree", "sssp"}},
		{chain: []string{"dfsssp", "updn"}}, // refuses: no roots
		{chain: []string{"updn", "sssp"}},
		{chain: []string{"lash", "sssp"}, opt: routing.Options{LASHStartVL: 7}},
		{chain: []string{"dfsssp", "updn"}, opt: routing.Options{RootGUIDs: root}},
		{chain: []string{"dfsssp", "dnup"}},
		{
			chain: []string{"dfsssp", "updn"}, opt: routing.Options{RootGUIDs: append(root, f.SwitchNode(7).GUID),
				ConnectRoots: true},
		},
	}
	// dfsssp's hops have no weights, so no port has the least of them if others continue with weights.
	for _, c := range trials {
		c.opt.HopWeights = map[routing.SwitchPort]uint8{}
		for s := range f.NumSwitches() {
			c.opt.HopWeights[routing.SwitchPort{GUID: f.SwitchNode(s).GUID, Port: uint8(1 + r.IntN(5))}] =
				uint8(2 + r.IntN(2))
		}
		trials = append(trials, c)
	}
	// This trial is last because its LIDs stay in ibsim.
	for _, c := range append(trials, trial{chain: []string{"dfsssp"}, lmcESP0: true, opt: routing.Options{LMC: 1}}) {
		if err := differs(t, sim, f, &c); err != nil {
			t.Errorf("%q, %+v: %v", c.chain, c.opt, err)
		}
	}
}

// torus-2QoS counts no hops, and leaves those of dfsssp unchanged.
func TestTorusKeepsHops(t *testing.T) {
	testenv.Tool(t, "opensm")
	f := gentest.Fabric(t, "torus:9x9")
	conf, err := torus.Recognise(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := osm.WriteTorusConf(&text, conf); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "torus.conf")
	write(t, path, text.String())
	c := &trial{chain: []string{"dfsssp", "torus-2QoS"}, conf: "qos TRUE\ntorus_config " + path + "\n",
		own: []routing.Engine{torus.Engine{Conf: conf}}}
	if err := differs(t, start(t, f), f, c); err != nil {
		t.Error(err)
	}
}

// TestHintsEqualOpenSM compares the ports in opensm.fdbs for detours, with the options by which OpenSM chooses them: of
// up/down's tables that the engine file applies to a fabric, and of ftree's and lash's.
func TestHintsEqualOpenSM(t *testing.T) {
	testenv.Tool(t, "opensm")
	r := testenv.Rand(t)
	hints := map[string]int{}
	for range testenv.Count(t, 3, 40) {
		f := gentest.Fabric(t, []string{"random:20,4,60", "torus:6x5,2", "mesh:4x4,hosts=2,links=3"}[r.IntN(3)])
		sim := start(t, f)
		for _, engine := range []string{file.Name, file.Name, "lash"} {
			c := &trial{chain: []string{engine}, opt: hintOptions(r, f)}
			if engine == file.Name {
				upDown(t, r, f, c)
			} else {
				c.opt.HopWeights = randomWeights(r, f)
			}
			compareHints(t, sim, f, c, hints)
		}
	}
	// sssp counts over the weighted hops of updn, which refused, and counts the use of ports.
	for range testenv.Count(t, 8, 80) {
		f := irregular(t, r)
		c := &trial{chain: []string{"updn", "sssp"}, lmcESP0: true, opt: hintOptions(r, f)}
		c.opt.LMC, c.opt.HopWeights = 3, randomWeights(r, f)
		compareHints(t, start(t, f), f, c, hints)
	}
	f := gentest.Fabric(t, "fattree:3,6")
	c := &trial{chain: []string{"ftree"}, opt: hintOptions(r, f)}
	c.opt.LMC, c.opt.RootGUIDs = 0, farthest(f)[:3]
	c.opt.IONodes, c.opt.MaxReverseHops = somePorts(r, f.EndPorts, f, 2), 3
	compareHints(t, start(t, f), f, c, hints)
	t.Log(hints)
	if hints[file.Name] == 0 || hints["lash"] == 0 || hints["updn"] == 0 {
		t.Error("no detours in", hints)
	}
}

func compareHints(t *testing.T, sim *ibsimtest.Sim, f *fabric.Fabric, c *trial, hints map[string]int) {
	t.Helper()
	c.more = func(dir string, _ *routing.Result) error {
		text, err := os.ReadFile(filepath.Join(dir, "opensm.fdbs"))
		hints[c.chain[0]] += bytes.Count(text, []byte("hop path possible"))
		return err
	}
	if err := differs(t, sim, f, c); err != nil {
		t.Errorf("%q, %+v: %v", c.chain, c.opt, err)
	}
}

// upDown makes a trial one of the engine file with tables of up/down from a random root.
func upDown(t *testing.T, r *rand.Rand, f *fabric.Fabric, c *trial) {
	t.Helper()
	f, err := fabric.AssignLIDs(f)
	if err != nil {
		t.Fatal(err)
	}
	c.opt.LMC = 0
	res := route(t, updn.Engine{}, f, routing.Options{
		RootGUIDs: []uint64{f.SwitchNode(fabric.SwitchIndex(r.IntN(len(f.Switches)))).GUID},
	})
	var text bytes.Buffer
	if err := osm.WriteLFTs(&text, res.Tables); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "lfts")
	write(t, path, text.String())
	routes, err := osm.ReadLFTs(&text, path)
	if err != nil {
		t.Fatal(err)
	}
	c.conf, c.own = "lfts_file "+path+"\n", []routing.Engine{file.Engine{Routes: routes}}
}

// randomWeights weights a random port of each switch.
func randomWeights(r *rand.Rand, f *fabric.Fabric) map[routing.SwitchPort]uint8 {
	weights := map[routing.SwitchPort]uint8{}
	for s := range f.NumSwitches() {
		weights[routing.SwitchPort{GUID: f.SwitchNode(s).GUID, Port: uint8(1 + r.IntN(6))}] = 3
	}
	return weights
}

// hintOptions returns random options by which OpenSM chooses among ports.
func hintOptions(r *rand.Rand, f *fabric.Fabric) routing.Options {
	o := routing.Options{ScatterPorts: []uint32{0, 0, 7, 4711}[r.IntN(4)], PortShifting: r.IntN(2) == 0,
		ProfileSwitchNodes: r.IntN(2) == 0}
	for s := range f.NumSwitches() {
		n := f.SwitchNode(s)
		order := routing.PortOrder{GUID: n.GUID}
		for _, p := range r.Perm(int(n.NumPorts))[:1+r.IntN(int(n.NumPorts))] {
			order.Ports = append(order.Ports, uint8(p+1))
		}
		if r.IntN(2) == 0 {
			o.PortSearchOrder = append(o.PortSearchOrder, order)
		}
	}
	return o
}
