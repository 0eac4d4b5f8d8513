// SPDX-License-Identifier: Apache-2.0

package engines_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/engines/ftree"
)

const caOrderDump = "opensm-ftree-ca-order.dump"

// memory is the order in which an OpenSM's memory holds the adapters of each leaf. Its ca-order dump shows the order of
// the compute nodes. The order of the others is unknown. They are interchangeable, but their number between compute
// nodes matters: the leaf is routed by place in the list, which may be sorted meanwhile.
type memory struct {
	leaves []*leafMemory
	// switches are those of leaves.
	switches []fabric.SwitchIndex
}

type leafMemory struct {
	others, computes []uint64
	// before is the number of others before each of computes, and after the last.
	before []int
}

func (m *memory) guids() []uint64 {
	var all []uint64
	for _, l := range m.leaves {
		others := l.others
		for i, n := range l.before {
			all = append(all, others[:n]...)
			others = others[n:]
			if i < len(l.computes) {
				all = append(all, l.computes[i])
			}
		}
	}
	return all
}

// memoryOf reads the order of compute nodes from OpenSM's directory.
func memoryOf(dir string, f *fabric.Fabric) (*memory, error) {
	text, err := os.ReadFile(filepath.Join(dir, caOrderDump))
	if err != nil {
		return nil, err
	}
	m, at := &memory{}, map[fabric.SwitchIndex]int{}
	listed := map[fabric.PortIndex]bool{}
	leafOf := func(end fabric.PortIndex) *leafMemory {
		sw, _ := f.AttachedSwitch(end)
		if _, ok := at[sw]; !ok {
			at[sw] = len(m.leaves)
			m.leaves = append(m.leaves, &leafMemory{})
			m.switches = append(m.switches, sw)
		}
		return m.leaves[at[sw]]
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
		if f.Nodes[p.Node].Type == mad.NodeCA && p.Peer != fabric.None && !listed[end] &&
			f.PeerSwitch(end) != fabric.None {
			l := leafOf(end)
			l.others = append(l.others, p.GUID)
		}
	}
	for _, l := range m.leaves {
		l.before = make([]int, len(l.computes)+1)
		l.before[len(l.computes)] = len(l.others)
	}
	return m, nil
}

// routeAsIn routes like the OpenSM with this directory: with the compute nodes in its order of addresses, and the other
// adapters of a leaf placed so that its compute nodes are routed in the order of its log.
func routeAsIn(dir string, f *fabric.Fabric, opt routing.Options) (*routing.Result, error) {
	m, err := memoryOf(dir, f)
	if err != nil {
		return nil, err
	}
	theirs, err := routedIn(dir, f)
	if err != nil {
		return nil, err
	}
	var ours map[fabric.SwitchIndex][]uint16
	route := func() (*routing.Result, error) {
		ours = map[fabric.SwitchIndex][]uint16{}
		return ftree.Engine{InMemory: m.guids(), Routed: func(lid uint16) {
			sw, _ := f.AttachedSwitch(f.PortByLID(lid))
			ours[sw] = append(ours[sw], lid)
		}}.Route(context.Background(), f, opt)
	}
	for i, l := range m.leaves {
		if len(l.computes) == 0 || len(l.others) == 0 {
			continue
		}
		err := l.fit(func() (int, error) {
			_, err := route()
			return countDifferences(theirs[m.switches[i]], ours[m.switches[i]]), err
		})
		if err != nil {
			return nil, err
		}
	}
	return route()
}

// routedLine matches a line of OpenSM's debug log for a compute node.
var routedLine = regexp.MustCompile(`set path to CN LID (\d+) through port`)

// routedIn returns the LIDs of the compute nodes of each switch in the order in which OpenSM first routed to them.
func routedIn(dir string, f *fabric.Fabric) (map[fabric.SwitchIndex][]uint16, error) {
	text, err := os.ReadFile(filepath.Join(dir, "opensm.log"))
	if err != nil {
		return nil, err
	}
	routed := map[fabric.SwitchIndex][]uint16{}
	for _, line := range routedLine.FindAllSubmatch(text, -1) {
		lid, err := strconv.ParseUint(string(line[1]), 10, 16)
		if err != nil {
			return nil, err
		}
		sw, _ := f.AttachedSwitch(f.PortByLID(uint16(lid)))
		routed[sw] = append(routed[sw], uint16(lid))
	}
	return routed, nil
}

// fit places the others so that cost is least: all before one compute node, then one by one elsewhere as long as that
// helps.
func (l *leafMemory) fit(cost func() (int, error)) error {
	least, err := cost()
	try := func(change func(before []int)) bool {
		if err != nil || least == 0 {
			return false
		}
		kept := slices.Clone(l.before)
		change(l.before)
		var c int
		if c, err = cost(); err == nil && c < least {
			least = c
			return true
		}
		l.before = kept
		return false
	}
	for split := range len(l.others) {
		try(func(before []int) { // some in front, the rest at the end
			clear(before)
			before[0], before[len(before)-1] = split+1, len(l.others)-split-1
		})
	}
	for better := true; better; {
		better = false
		for from := range l.before {
			for to := range l.before {
				if from != to && l.before[from] > 0 {
					better = try(func(before []int) { before[from]--; before[to]++ }) || better
				}
			}
		}
	}
	return err
}

// countDifferences counts the places at which two orders differ.
func countDifferences(a, b []uint16) int {
	n := max(len(a), len(b)) - min(len(a), len(b))
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			n++
		}
	}
	return n
}
