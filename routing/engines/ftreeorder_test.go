// SPDX-License-Identifier: Apache-2.0

package engines_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/osm"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/ftree"
)

const caOrderDump = "opensm-ftree-ca-order.dump"

// memory is the order in which an OpenSM's memory holds the adapters of each leaf.
// Of the compute nodes its ca-order dump shows it. Of the others nothing does, and
// it matters only how many come before the compute nodes: the leaf is routed by
// place in the list, which may be put in order meanwhile.
type memory struct {
	leaves []leafMemory
}

type leafMemory struct {
	others, computes []uint64
	// before is how many of others come first.
	before int
}

func (m *memory) guids() []uint64 {
	var all []uint64
	for _, l := range m.leaves {
		all = slices.Concat(all, l.others[:l.before], l.computes, l.others[l.before:])
	}
	return all
}

// memoryOf reads the order of compute nodes that OpenSM left in its folder.
func memoryOf(dir string, f *fabric.Fabric) (*memory, error) {
	text, err := os.ReadFile(filepath.Join(dir, caOrderDump))
	if err != nil {
		return nil, err
	}
	m, at := &memory{}, map[int32]int{}
	listed := map[int32]bool{}
	leafOf := func(end int32) *leafMemory {
		sw, _ := f.AttachedSwitch(end)
		if _, ok := at[sw]; !ok {
			at[sw] = len(m.leaves)
			m.leaves = append(m.leaves, leafMemory{})
		}
		return &m.leaves[at[sw]]
	}
	for line := range strings.Lines(string(text)) {
		var lid uint16
		if n, _ := fmt.Sscanf(line, "%v", &lid); n == 1 && lid != 0xffff {
			end := f.PortByLID(lid)
			l := leafOf(end)
			l.computes = append(l.computes, f.Ports[end].GUID)
			listed[end] = true
		}
	}
	for _, end := range f.EndPorts {
		p := &f.Ports[end]
		if f.Nodes[p.Node].Type == mad.NodeCA && p.Peer != fabric.None && !listed[end] && f.PeerSwitch(end) != fabric.None {
			l := leafOf(end)
			l.others = append(l.others, p.GUID)
		}
	}
	return m, nil
}

// routeAsIn routes as an OpenSM did whose folder this is: in its order of
// addresses, as far as that is known, and else in the one of all possible with
// which the fewest entries differ, leaf by leaf.
func routeAsIn(dir string, f *fabric.Fabric, opt routing.Options) (*routing.Result, error) {
	m, err := memoryOf(dir, f)
	if err != nil {
		return nil, err
	}
	theirs, err := os.ReadFile(filepath.Join(dir, "opensm-lfts.dump"))
	if err != nil {
		return nil, err
	}
	want := bytes.Split(theirs, []byte("\n"))
	best, fewest, err := routeIn(m, f, opt, want)
	for i := range m.leaves {
		l := &m.leaves[i]
		for n := 1; n <= len(l.others) && len(l.computes) > 0 && fewest > 0 && err == nil; n++ {
			kept := l.before
			l.before = n
			var res *routing.Result
			var differ int
			if res, differ, err = routeIn(m, f, opt, want); differ < fewest {
				best, fewest = res, differ
			} else {
				l.before = kept
			}
		}
	}
	return best, err
}

// routeIn counts besides the lines of the LFT dump that differ.
func routeIn(m *memory, f *fabric.Fabric, opt routing.Options, want [][]byte) (*routing.Result, int, error) {
	res, err := ftree.Engine{InMemory: m.guids()}.Route(context.Background(), f, opt)
	if err != nil {
		return nil, 0, err
	}
	var lfts bytes.Buffer
	if err := osm.WriteLFTs(&lfts, res.Tables); err != nil {
		return nil, 0, err
	}
	differ := 0
	for i, line := range bytes.Split(lfts.Bytes(), []byte("\n")) {
		if i >= len(want) || !bytes.Equal(line, want[i]) {
			differ++
		}
	}
	return res, differ, nil
}
