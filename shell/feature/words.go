// SPDX-License-Identifier: Apache-2.0

package feature

import (
	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/fabric/places"
	"example.org/ibconsole/shell/answer"
)

// PortArg returns the ports that the first argument names: a port, or all ports of a node; nil where it is missing.
func (c *Call) PortArg(f *fabric.Fabric) ([]fabric.PortIndex, error) {
	if len(c.Args) == 0 {
		return nil, nil
	}
	p, err := places.Resolve(f, c.Arg(0))
	if err != nil {
		return nil, err
	}
	if p.PortNamed {
		return []fabric.PortIndex{p.Port}, nil
	}
	var ports []fabric.PortIndex
	for _, port := range counters.AllPorts(f) {
		if f.Ports[port].Node == p.Node {
			ports = append(ports, port)
		}
	}
	return ports, nil
}

// ToPort returns the lead to a port, the zero Lead for [fabric.None].
func ToPort(f *fabric.Fabric, port fabric.PortIndex) answer.Lead {
	if port == fabric.None {
		return answer.Lead{}
	}
	l := ToNode(f, f.Ports[port].Node)
	l.Port = f.Ports[port].Num
	return l
}

// ToNode returns the lead to a node, the zero Lead for [fabric.None].
func ToNode(f *fabric.Fabric, node fabric.NodeIndex) answer.Lead {
	if node == fabric.None {
		return answer.Lead{}
	}
	return answer.Lead{GUID: f.Nodes[node].GUID}
}
