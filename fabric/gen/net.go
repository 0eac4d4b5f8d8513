// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"cmp"
	"fmt"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// The values that ibsim uses where a file does not state them (ibsim, sim_net.c: nodeinfo, portinfo and GUID counters).
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

// net collects nodes in the order of ibsim and gives them the same GUIDs as ibsim.
type net struct {
	b               fabric.Builder
	hosts, switches int
	nextHostGUID    uint64

	speed       fabric.Speed // of all links
	rail        int          // the number of the hosts' adapters in the subnet, 0 for all
	aggregation bool         // each switch has one more port, for an aggregation node
	system      uint64       // the system GUID of switches, 0 for their own GUIDs
	switchNodes []fabric.NodeIndex
	switchPorts []int
}

// checkSize returns an error if the fabric would need more LIDs than exist.
func checkSize(switches, hostPorts int) error {
	if switches > fabric.MaxUnicastLID || hostPorts > fabric.MaxUnicastLID-switches {
		return fmt.Errorf("%s switches and %s host ports need more LIDs than the %d unicast LIDs",
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

// veryMany is the maximum result of product. It prevents overflows.
const veryMany = 1 << 40

func product(factors ...int) int {
	p := 1
	for _, f := range factors {
		if f != 0 && p > veryMany/f {
			return veryMany
		}
		p *= f
	}
	return p
}

func count(n int) string {
	if n >= veryMany {
		return "very many"
	}
	return fmt.Sprint(n)
}

// addHosts adds hosts with the given number of ports. They are named node-0001 and so on. It returns the index of the
// first host.
func (n *net) addHosts(hosts, ports int) (fabric.NodeIndex, error) {
	return n.addAdapters("node", hosts, ports)
}

// addAdapters is like addHosts, with another name instead of "node".
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

// railGUIDs returns the number that is added to all GUIDs of the rail.
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

// link connects two ports. The link is up, but in the state before an SM configures it.
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

// addSwitches adds the hosts, then the switches. The hosts of switch i are hosts[i] hosts on the ports from 1 on. It
// returns the first switch.
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
	first, err := n.addRow(len(hosts), ports, name)
	if err != nil {
		return 0, err
	}
	for i, h := range hosts {
		for p := range h {
			if err := n.link(host, 1, first+fabric.NodeIndex(i), p+1); err != nil {
				return 0, err
			}
			host++
		}
	}
	return first, nil
}

// addUniform is like addSwitches, with the same number of hosts on each switch.
func (n *net) addUniform(switches, ports, hosts int, name func(int) string) (fabric.NodeIndex, error) {
	if err := checkSize(switches, product(switches, hosts)); err != nil {
		return 0, err
	}
	return n.addSwitches(ports, slices.Repeat([]int{hosts}, switches), name)
}
