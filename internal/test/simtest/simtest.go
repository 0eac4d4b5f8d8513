// SPDX-License-Identifier: Apache-2.0

// Package simtest creates simulated subnets with a subnet manager for tests.
package simtest

import (
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/fabric/sim"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/engines"
)

// Subnet is a simulated subnet.
type Subnet struct {
	Sim    *sim.Sim
	Fabric *fabric.Fabric
	LFT    *fabric.LFT      // the forwarding tables of the switches
	Master fabric.PortIndex // the port of the subnet manager
}

// New returns a simulated subnet with links of 4x HDR, routed by the default engine. The argument spec describes the
// topology, for example fattree:2,8. If the function change is not nil, New calls it to change the forwarding tables
// before use.
func New(t testing.TB, spec string, change func(*fabric.LFT, *fabric.Fabric)) *Subnet {
	t.Helper()
	f, err := gen.ParseSpec(spec)
	if err != nil {
		t.Fatal(err)
	}
	if f, err = fabric.AssignLIDs(f); err != nil {
		t.Fatal(err)
	}
	for i := range f.Ports {
		if p := &f.Ports[i]; p.Linked() {
			p.Width, p.Speed = 4, fabric.HDR
		}
	}
	tables := Routed(t, f)
	if change != nil {
		change(tables.LFT, f)
	}
	s := &Subnet{
		Sim:    sim.New(f, sim.Options{Tables: tables, Active: true, SendBack: true}),
		Fabric: f, LFT: tables.LFT, Master: f.EndPortOf(f.SMPort),
	}
	s.Manager(s.Master, mad.SMMaster)
	return s
}

// Routed returns the tables of the default engine.
func Routed(t testing.TB, f *fabric.Fabric) *fabric.Tables {
	t.Helper()
	e, err := engines.ByName(engines.Default)
	if err != nil {
		t.Fatal(err)
	}
	res, err := e.Route(t.Context(), f, routing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return res.Tables
}

// Manager adds a subnet manager of priority 1 to a port.
func (s *Subnet) Manager(port fabric.PortIndex, state mad.SMState) {
	s.Sim.SetSM(port, &mad.SMInfo{GUID: s.Fabric.Ports[port].GUID, Priority: 1, State: state})
}

// Open returns a transport that is connected to the port of the subnet manager.
func (s *Subnet) Open(t testing.TB) mad.Transport {
	t.Helper()
	conn, err := s.Sim.Open(s.Master)
	if err != nil {
		t.Fatal(err)
	}
	return conn
}
