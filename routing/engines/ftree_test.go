// SPDX-License-Identifier: Apache-2.0

package engines_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/osm"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/classify"
	"example.org/ibconsole/routing/engines/assign"
	"example.org/ibconsole/routing/engines/ftree"
)

// treesPerSample and treesInFull are the numbers of random trees; each has trialsPerFabric comparisons.
const (
	treesPerSample = 6
	treesInFull    = 150
)

// TestFatTreesEqualOpenSM compares ftree with OpenSM on fat-trees of many kinds, complete and damaged: without options,
// with the GUID files that we suggest, and with random options. IBCONSOLE_TRIALS=N makes N comparisons, and
// IBCONSOLE_SEED=S repeats those of an earlier run.
func TestFatTreesEqualOpenSM(t *testing.T) {
	testenv.Tool(t, "opensm")
	r := testenv.Rand(t)
	trees := testenv.Count(t, treesPerSample, treesInFull)
	if n, err := strconv.Atoi(os.Getenv("IBCONSOLE_TRIALS")); err == nil {
		trees = n / trialsPerFabric
	}
	var made tally
	t.Cleanup(func() { made.log(t) })
	for i := range trees {
		seed := r.Uint64()
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			treeTrials(t, rand.New(rand.NewPCG(seed, 5)), i, &made)
		})
	}
}

func treeTrials(t *testing.T, r *rand.Rand, i int, made *tally) {
	what, f := randomTree(t, r, i)
	lmc := uint8(0)
	if r.IntN(40) == 0 {
		lmc = 1
	}
	sim := start(t, f)
	for k := range trialsPerFabric {
		c := &trial{chain: []string{"ftree"}}
		switch k {
		case 0:
		case 1:
			c.opt = suggested(t, f)
		default:
			c.opt = treeOptions(r, f)
		}
		c.opt.LMC = lmc
		ended, err := treeDiffers(t, sim, f, c)
		if err != nil {
			dir, problem := shrinkWith(t, f, c, err, func(t *testing.T, sim *ibsimtest.Sim, f *fabric.Fabric,
				c *trial) error {
				_, err := treeDiffers(t, sim, f, c)
				return err
			})
			t.Fatalf("%s: %v\nshrunk, in %s: %v", what, err, dir, problem)
		}
		switch {
		case strings.HasPrefix(ended, refused):
			made.add("ftree refused")
		case strings.HasPrefix(ended, byAddress):
			made.add("ftree in OpenSM's order of addresses")
		default:
			made.add("ftree")
		}
		t.Logf("%s: %d switches: %s", what, len(f.Switches), ended)
	}
}

// suggested returns the options that package classify suggests for a fabric, or only the top switches as roots if it
// suggests none.
func suggested(t *testing.T, f *fabric.Fabric) routing.Options {
	t.Helper()
	s, err := classify.Suggest(t.Context(), f, nil, routing.Options{})
	var none *classify.NoTreeError
	switch {
	case errors.As(err, &none):
		return routing.Options{RootGUIDs: farthest(f)}
	case err != nil:
		t.Fatal(err)
	}
	return s.Options(routing.Options{})
}

// Prefixes of the result of a comparison.
const (
	refused   = "refused: "
	byAddress = "in OpenSM's order of addresses, "
)

// moreRuns is the number of further runs of OpenSM if it orders adapters by addresses in its memory: in one of some
// forty runs adapters precede switches, as the fifth byte of their addresses is lower than a rank.
const moreRuns = 3

// treeDiffers returns the difference between OpenSM's ftree and ours, and the result of the comparison. If OpenSM
// orders adapters by addresses in its memory, it is run again for its debug log, and ours gets the order that
// [routeAsIn] finds there; then everything must be equal.
func treeDiffers(t *testing.T, sim *ibsimtest.Sim, f *fabric.Fabric, c *trial) (ended string, err error) {
	t.Helper()
	ended, err = treeDiffersOnce(t, sim, f, c)
	again := *c
	again.log |= logDebug
	for range 1 + moreRuns {
		if err == nil || !strings.Contains(ended, inMemory) {
			break
		}
		ended, err = treeDiffersOnce(t, sim, f, &again)
	}
	return ended, err
}

// logDebug is the bit of OpenSM's -D for debug messages.
const logDebug = 0x08

// inMemory is part of the warning about orders by addresses.
const inMemory = "in its memory"

func treeDiffersOnce(t *testing.T, sim *ibsimtest.Sim, f *fabric.Fabric, c *trial) (ended string, err error) {
	t.Helper()
	dir, theirs := openSM(t, sim, c)
	if f, err = withLIDs(f, dir); err != nil {
		t.Fatal(err)
	}
	res, err := ftree.Engine{}.Route(context.Background(), f, c.opt)
	var no *ftree.NotFatTreeError
	switch {
	case errors.As(err, &no) && theirs != "ftree":
		return refused + no.Reason, sameRefusal(filepath.Join(dir, "opensm.log"), f, no)
	case err != nil:
		return "", err
	case theirs != "ftree":
		return "", fmt.Errorf("OpenSM routes with %q, we with ftree", theirs)
	}
	ended = fmt.Sprintf("routed; %q", res.Warnings)
	if err = treeDumpsDiffer(dir, f, &c.opt, res); err == nil || c.log&logDebug == 0 {
		return ended, err
	}
	if res, err = routeAsIn(dir, f, c.opt); err != nil {
		return "", err
	}
	return byAddress + ended, treeDumpsDiffer(dir, f, &c.opt, res)
}

// treeDumpsDiffer returns the difference between OpenSM's dumps and ours.
func treeDumpsDiffer(dir string, f *fabric.Fabric, opt *routing.Options, res *routing.Result) error {
	res.Recommend = func(h routing.Hops) routing.Recommend { return assign.Recommend(f, h, opt, nil, nil) }
	var order bytes.Buffer
	if err := osm.WriteCAOrder(&order, f, res.CAOrder); err != nil {
		return err
	}
	return errors.Join(sameDumps(dir, res), differsFrom(filepath.Join(dir, caOrderDump), order.Bytes()))
}

// refusals match OpenSM's log if it refuses, by rule.
var refusals = map[ftree.Rule]string{
	ftree.NoLMC:        `LMC > 0 is not supported`,
	ftree.FewSwitches:  `Fabric has \d+ switches - topology is not fat-tree`,
	ftree.FewNodes:     `Fabric has \d+ nodes \(\d+ switches\)`,
	ftree.BrokenFile:   `ERR AB2[38]`,
	ftree.EmptyFile:    `ERR AB2[79]`,
	ftree.FewAdapters:  `Fabric has \d+ CAs - topology`,
	ftree.SomeHostless: `ERR AB2B`,
	ftree.NoCNs:        `Fabric has no valid compute nodes`,
	ftree.TreeRank:     `Fabric rank is \d+`,
	ftree.LeafRank:     `ERR AB26: .* switch 0x([0-9a-f]+)`,
	ftree.FewLeaves:    `Failed to find leaf switches`,
	ftree.UpGroups:     `ERR AB09(?s:.*?)GUID 0x([0-9a-f]+)(?s:.*?)GUID 0x([0-9a-f]+)`,
	ftree.DownGroups:   `ERR AB0A(?s:.*?)GUID 0x([0-9a-f]+)(?s:.*?)GUID 0x([0-9a-f]+)`,
	ftree.UpPorts:      `ERR AB0B(?s:.*?)GUID 0x([0-9a-f]+)(?s:.*?)GUID 0x([0-9a-f]+)`,
	ftree.DownPorts:    `ERR AB0C(?s:.*?)GUID 0x([0-9a-f]+)(?s:.*?)GUID 0x([0-9a-f]+)`,
}

// sameRefusal checks that the first problem is OpenSM's, and that it concerns a switch in OpenSM's message.
func sameRefusal(log string, f *fabric.Fabric, refused *ftree.NotFatTreeError) error {
	text, err := os.ReadFile(log)
	if err != nil {
		return err
	}
	first := refused.Problems[0]
	m := regexp.MustCompile(refusals[first.Rule]).FindSubmatch(text)
	if m == nil {
		return fmt.Errorf("OpenSM does not refuse because %s; its log:\n%s", first.Text, text)
	}
	if len(m) == 1 {
		return nil
	}
	for _, s := range first.Switches {
		guid := []byte(fmt.Sprintf("%016x", f.SwitchNode(s).GUID))
		for _, named := range m[1:] {
			if bytes.Equal(guid, fmt.Appendf(nil, "%016s", named)) {
				return nil
			}
		}
	}
	return fmt.Errorf("OpenSM names %q, we the switches of %s", m[1:], first.Text)
}

// TestSharedFatTreesEqualOpenSM compares ftree with OpenSM on real fabrics: without options, with the GUID files that
// we suggest, with their top switches as roots and the adapters of one rank as compute nodes, and with random options.
func TestSharedFatTreesEqualOpenSM(t *testing.T) {
	testenv.Tool(t, "opensm")
	sharedFabrics(t, func(t *testing.T, file string, f *fabric.Fabric, r *rand.Rand) {
		trials := testenv.Count(t, 3, 12)
		if len(f.Switches) >= largeSwitches {
			if !testenv.Full() {
				t.Skip("OpenSM takes minutes: only with IBCONSOLE_FULL=1")
			}
			trials = 3
		}
		if len(f.Switches) > manySwitches && !testenv.Full() {
			trials = 1
		}
		for i := range trials {
			c := &trial{chain: []string{"ftree"}}
			switch i {
			case 0:
			case 1:
				c.opt = suggested(t, f)
			case 2:
				c.opt.RootGUIDs = farthest(f)
				c.opt.ComputeNodes = somePorts(r, level(f, c.opt.RootGUIDs), f, 1)
			default:
				c.opt = treeOptions(r, f)
			}
			ended, err := treeDiffers(t, ibsimtest.Start(t, file), f, c)
			if err != nil {
				t.Fatalf("options %+v: %v", c.opt, err)
			}
			t.Log(ended)
		}
	})
}

// TestMoreLeavesThanDigits compares with OpenSM when it runs out of tuples: it has 255 for the leaves of a tree of two
// ranks in which no spine has that many.
func TestMoreLeavesThanDigits(t *testing.T) {
	testenv.Tool(t, "opensm")
	if !testenv.Full() {
		t.Skip("it takes OpenSM a while: only with IBCONSOLE_FULL=1")
	}
	const leaves, spines = 270, 12
	var b fabric.Builder
	add := func(n fabric.Node) fabric.NodeIndex {
		i, err := b.AddNode(n)
		if err != nil {
			t.Fatal(err)
		}
		return i
	}
	for i := range uint64(leaves) {
		h := add(fabric.Node{GUID: 0x100000 + 2*i, SystemGUID: 0x100000 + 2*i, Type: mad.NodeCA, NumPorts: 1,
			Desc: fmt.Sprint("host ", i)})
		b.Port(h, 1).GUID = 0x100001 + 2*i
	}
	for i := range uint64(leaves + spines) {
		add(fabric.Node{GUID: 0x200000 + i, SystemGUID: 0x200000 + i, Type: mad.NodeSwitch, NumPorts: 60,
			Desc: fmt.Sprint("switch ", i)})
	}
	used := make([]int, spines)
	for i := range leaves {
		if err := b.Connect(fabric.NodeIndex(i), 1, fabric.NodeIndex(leaves+i), 1); err != nil {
			t.Fatal(err)
		}
		for up, s := range []int{i % spines, (i + 1) % spines} {
			used[s]++
			if err := b.Connect(fabric.NodeIndex(leaves+i), 2+up, fabric.NodeIndex(2*leaves+s), used[s]); err != nil {
				t.Fatal(err)
			}
		}
	}
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	sim := start(t, f)
	for _, quasi := range []bool{false, true} {
		c := &trial{
			chain: []string{"ftree"}, opt: routing.Options{RootGUIDs: farthest(f), QuasiFtreeIndexing: quasi,
				ConnectRoots: true},
		}
		if ended, err := treeDiffers(t, sim, f, c); err != nil || !strings.HasPrefix(ended, "routed") {
			t.Errorf("quasi_ftree_indexing %v: %s: %v", quasi, ended, err)
		}
	}
}
