// SPDX-License-Identifier: Apache-2.0

package engines_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// mess builds very irregular fabrics: parallel links, cables from a switch to itself, switches with few and with many
// ports and without hosts, systems of several switches, adapters with two ports, routers, parts that the SM does not
// reach, and GUIDs in no order.
type mess struct {
	t        *testing.T
	r        *rand.Rand
	b        fabric.Builder
	free     map[fabric.NodeIndex][]int // free ports by node
	guids    map[uint64]bool
	switches []fabric.NodeIndex
}

// vl0To7 is the code of eight data VLs.
const vl0To7 = 4

func irregular(t *testing.T, r *rand.Rand) *fabric.Fabric {
	m := &mess{t: t, r: r, free: map[fabric.NodeIndex][]int{}, guids: map[uint64]bool{}}
	smOnHost := r.IntN(8) > 0
	if smOnHost {
		m.host(mad.NodeCA, 1)
	}
	for range 1 + r.IntN(18) {
		m.addSwitch()
	}
	if smOnHost {
		m.link(0, m.switches[0])
	}
	m.cable()
	for range r.IntN(5 * len(m.switches)) {
		kind, ports := mad.NodeCA, 1
		switch r.IntN(10) {
		case 0:
			kind = mad.NodeRouter
		case 1, 2:
			ports = 2
		}
		h := m.host(kind, ports)
		for range ports {
			m.link(h, m.switches[r.IntN(len(m.switches))])
		}
	}
	f, err := m.b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// guid returns an unused GUID with free GUIDs for ports after it.
func (m *mess) guid() uint64 {
	for {
		g := m.r.Uint64() &^ 0xff
		if m.r.IntN(2) == 0 {
			g = 0x2c90300000000 | uint64(m.r.IntN(1<<12))<<8
		}
		if g != 0 && !m.guids[g] {
			m.guids[g] = true
			return g
		}
	}
}

func (m *mess) add(n fabric.Node) fabric.NodeIndex {
	if n.SystemGUID == 0 {
		n.SystemGUID = n.GUID
	}
	i, err := m.b.AddNode(n)
	if err != nil {
		m.t.Fatal(err)
	}
	for p := range int(n.NumPorts) + 1 {
		if q := m.b.Port(i, p); q != nil { // as ibsim has them
			q.VLCap, q.OperVLs, q.CapMask = vl0To7, vl0To7, uint32(mad.CapSLMapping)
		}
	}
	for p := 1; p <= int(n.NumPorts); p++ {
		if !n.IsSwitch() {
			m.b.Port(i, p).GUID = n.GUID + uint64(p)
		}
		m.free[i] = append(m.free[i], p)
	}
	if n.IsSwitch() {
		free := m.free[i]
		m.r.Shuffle(len(free), func(a, b int) { free[a], free[b] = free[b], free[a] })
	}
	return i
}

func (m *mess) addSwitch() {
	n := fabric.Node{
		GUID: m.guid(), Type: mad.NodeSwitch, NumPorts: uint8(4 + m.r.IntN(33)), EnhancedPort0: m.r.IntN(3) == 0,
	}
	if m.r.IntN(8) == 0 {
		n.NumPorts = uint8(60 + m.r.IntN(195))
	}
	if len(m.switches) > 0 && m.r.IntN(3) == 0 {
		n.SystemGUID = m.b.Node(m.switches[m.r.IntN(len(m.switches))]).SystemGUID
	}
	n.Desc = fmt.Sprintf("sw%d", len(m.switches)+1)
	m.switches = append(m.switches, m.add(n))
}

func (m *mess) host(kind mad.NodeType, ports int) fabric.NodeIndex {
	g := m.guid()
	return m.add(fabric.Node{GUID: g, Type: kind, NumPorts: uint8(ports), Desc: fmt.Sprintf("host-%x", g)})
}

// cable links the switches: most of them into one part, some twice or more.
func (m *mess) cable() {
	lonely := m.r.IntN(6) == 0
	for i := 1; i < len(m.switches); i++ {
		if lonely && m.r.IntN(6) == 0 {
			continue
		}
		m.link(m.switches[i], m.switches[m.r.IntN(i)])
	}
	for range m.r.IntN(3 * len(m.switches)) {
		a, b := m.switches[m.r.IntN(len(m.switches))], m.switches[m.r.IntN(len(m.switches))]
		for range 1 + m.r.IntN(3)*m.r.IntN(2) {
			m.link(a, b)
		}
	}
}

// link connects two nodes if both have a free port.
func (m *mess) link(a, b fabric.NodeIndex) {
	if len(m.free[a]) == 0 || len(m.free[b]) == 0 || (a == b && len(m.free[a]) < 2) {
		return
	}
	take := func(n fabric.NodeIndex) int {
		p := m.free[n][0]
		m.free[n] = m.free[n][1:]
		return p
	}
	pa := take(a)
	if err := m.b.Connect(a, pa, b, take(b)); err != nil {
		m.t.Fatal(err)
	}
}
