// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"cmp"
	"fmt"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// What ibsim reports where a file says nothing (ibsim, sim_net.c: nodeinfo, portinfo and GUID counters).
const (
	firstHostGUID   = 0x100000
	firstSwitchGUID = 0x200000

	defaultRevision = 0xa1
	defaultWidth    = fabric.Width(4)
	defaultSpeed    = fabric.SDR
	defaultVLs      = 4 // VL0 to VL7
	linkMTU         = 4 // 2048
	port0MTU        = 1 // 256
	hostCapMask     = 0x0050c048
	port0CapMask    = 0x0000c048
)

// maxPorts is the highest port number (IBA 1.2.1, 14.2.5.3).
const maxPorts = 254

// net collects nodes in ibsim's order and numbers them as ibsim does.
type net struct {
	b               fabric.Builder
	hosts, switches int
	nextHostGUID    uint64

	speed       fabric.Speed // of all links
	rail        int          // which adapters of the hosts it is behind, 0 for all that they have
	aggregation bool         // each switch has one more port, for an aggregation node
	system      uint64       // the system GUID of switches, their own where it is 0
	switchNodes []fabric.NodeIndex
	switchPorts []int
}

// checkSize fails where a fabric would need more LIDs than there are.
func checkSize(switches, hostPorts int) error {
	if switches > fabric.MaxUnicastLID || hostPorts > fabric.MaxUnicastLID-switches {
		return fmt.Errorf("%s switches and %s host ports need more LIDs than the %d there are",
			count(switches), count(hostPorts), fabric.MaxUnicastLID)
	}
	return nil
}

func checkPorts(ports int) error {
	if ports > maxPorts {
		return fmt.Errorf("a switch would need %s ports, expected at most %d", count(ports), maxPorts)
	}
	return nil
}

// huge is what product returns for all that does not matter how large it is.
const huge = 1 << 40

func product(factors ...int) int {
	p := 1
	for _, f := range factors {
		if f != 0 && p > huge/f {
			return huge
		}
		p *= f
	}
	return p
}

func count(n int) string {
	if n >= huge {
		return "very many"
	}
	return fmt.Sprint(n)
}

// addHosts adds hosts of so many ports, named node-0001 and so on, and returns the index of the first.
func (n *net) addHosts(hosts, ports int) (fabric.NodeIndex, error) {
	return n.addAdapters("node", hosts, ports)
}

// addAdapters is addHosts with another name than node.
func (n *net) addAdapters(name string, hosts, ports int) (fabric.NodeIndex, error) {
	var first fabric.NodeIndex = fabric.None
	digits := max(4, len(fmt.Sprint(hosts)))
	for i := range hosts {
		node, err := n.addHost(fmt.Sprintf("%s-%0*d HCA-1", name, digits, i+1), ports)
		if err != nil {
			return 0, err
		}
		if i == 0 {
			first = node
		}
	}
	return first, nil
}

func (n *net) addSwitch(name string, ports int) (fabric.NodeIndex, error) {
	if n.aggregation {
		ports++
		if err := checkPorts(ports); err != nil {
			return 0, err
		}
	}
	node, err := n.add(fabric.Node{
		GUID: n.nextSwitchGUID(), SystemGUID: n.system, Type: mad.NodeSwitch, NumPorts: uint8(ports), Desc: name,
	})
	n.switches++
	n.switchNodes, n.switchPorts = append(n.switchNodes, node), append(n.switchPorts, ports)
	return node, err
}

func (n *net) nextSwitchGUID() uint64 { return firstSwitchGUID + uint64(n.switches) + n.railGUIDs() }

// railGUIDs is where the GUIDs of a rail begin.
func (n *net) railGUIDs() uint64 { return uint64(n.rail) << 40 }

func (n *net) add(node fabric.Node) (fabric.NodeIndex, error) {
	node.SystemGUID, node.Revision = cmp.Or(node.SystemGUID, node.GUID), defaultRevision
	i, err := n.b.AddNode(node)
	if err != nil {
		return i, err
	}
	for num := range int(node.NumPorts) + 1 {
		p := n.b.Port(i, num)
		if p == nil {
			continue
		}
		p.GUID, p.State = node.GUID, mad.PortDown
		p.VLCap, p.OperVLs = defaultVLs, defaultVLs
		switch {
		case node.Type == mad.NodeCA:
			p.GUID += uint64(num)
			p.CapMask = hostCapMask
		case num == 0:
			p.State, p.MTU, p.CapMask = mad.PortActive, port0MTU, port0CapMask
		}
	}
	return i, nil
}

// link joins two ports by a cable that is up and that no SM has configured yet.
func (n *net) link(nodeA fabric.NodeIndex, portA int, nodeB fabric.NodeIndex, portB int) error {
	if err := n.b.Connect(nodeA, portA, nodeB, portB); err != nil {
		return err
	}
	for _, end := range []struct {
		node fabric.NodeIndex
		port int
	}{{nodeA, portA}, {nodeB, portB}} {
		p := n.b.Port(end.node, end.port)
		p.State, p.MTU = mad.PortInit, linkMTU
		p.Width, p.Speed = defaultWidth, cmp.Or(n.speed, defaultSpeed)
	}
	return nil
}

// addSwitches adds hosts, then switches, hosts[i] on ports 1 and up of switch i, and returns the first switch.
func (n *net) addSwitches(ports int, hosts []int, name func(int) string) (fabric.NodeIndex, error) {
	total := 0
	for _, h := range hosts {
		total += h
	}
	if err := checkPorts(ports); err != nil {
		return 0, err
	}
	if err := checkSize(len(hosts), total); err != nil {
		return 0, err
	}
	host, err := n.addHosts(total, 1)
	if err != nil {
		return 0, err
	}
	var first fabric.NodeIndex = fabric.None
	for i, h := range hosts {
		node, err := n.addSwitch(name(i), ports)
		if err != nil {
			return 0, err
		}
		if i == 0 {
			first = node
		}
		for p := range h {
			if err := n.link(host, 1, node, p+1); err != nil {
				return 0, err
			}
			host++
		}
	}
	return first, nil
}

// addUniform is addSwitches with the same number of hosts on each switch.
func (n *net) addUniform(switches, ports, hosts int, name func(int) string) (fabric.NodeIndex, error) {
	if err := checkSize(switches, product(switches, hosts)); err != nil {
		return 0, err
	}
	return n.addSwitches(ports, slices.Repeat([]int{hosts}, switches), name)
}
