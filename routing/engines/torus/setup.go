// SPDX-License-Identifier: Apache-2.0

package torus

import (
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/osm"
	"example.org/ibconsole/routing"
)

// Name is the engine's name in opensm.conf.
const Name = "torus-2QoS"

// maxPlaces is the maximum number of places of a configuration. A subnet has at most 49,151 LIDs.
const maxPlaces = 1 << 16

// chooseSeed checks a configuration against a fabric as OpenSM's verify_setup does. It returns the first seed whose
// switches are all present. It checks all seeds, including unused seeds.
func chooseSeed(f *fabric.Fabric, conf *osm.TorusConf) (*osm.TorusSeed, error) {
	if err := checkSize(conf); err != nil {
		return nil, err
	}
	if err := checkPortOrder(f, conf); err != nil {
		return nil, err
	}
	seeds := conf.Seeds
	if len(seeds) == 0 {
		seeds = make([]osm.TorusSeed, 1)
	}
	var chosen *osm.TorusSeed
	for i := range seeds {
		if err := checkSeed(conf, &seeds[i]); err != nil {
			return nil, routing.RefuseFile(Name, "seed %d: %v", i+1, err)
		}
		if chosen == nil && seedPresent(f, conf, &seeds[i]) {
			chosen = &seeds[i]
		}
	}
	if chosen == nil {
		return nil, routing.RefuseFile(Name, "every seed of the configuration has a switch that the subnet does not "+
			"have (ERR 4E30)")
	}
	return chosen, nil
}

func checkSize(conf *osm.TorusConf) error {
	places := uint64(1)
	for _, n := range conf.Radix {
		if n == 0 {
			return routing.RefuseFile(Name, "the configuration gives no size (ERR 4E20)")
		}
		if places *= uint64(n); places > maxPlaces {
			return routing.RefuseFile(Name, "%d x %d x %d are more than %d switches", conf.Radix[0], conf.Radix[1],
				conf.Radix[2], maxPlaces)
		}
	}
	return nil
}

// checkPortOrder returns an error if the port order has a port that a switch does not have. It checks the first
// NumPorts+1 entries of the order for each switch.
func checkPortOrder(f *fabric.Fabric, conf *osm.TorusConf) error {
	order := portOrder(conf)
	for s := range f.NumSwitches() {
		n := f.SwitchNode(s)
		for _, port := range order[:min(len(order), int(n.NumPorts)+1)] {
			if n.InSubnet && port > n.NumPorts {
				return routing.RefuseFile(Name, "port_order has port %d, but %s has %d ports (ERR 4E21)", port,
					f.NodeName(f.Switches[s]), n.NumPorts)
			}
		}
	}
	return nil
}

// portOrder returns the complete port order: the listed ports, followed by the other ports.
func portOrder(conf *osm.TorusConf) []uint8 {
	var named [256]bool
	order := make([]uint8, 0, 255)
	for _, p := range conf.PortOrder {
		named[p] = true
		order = append(order, p)
	}
	for p := range uint8(255) {
		if !named[p] {
			order = append(order, p)
		}
	}
	return order
}

const axes = "xyz"

// checkSeed returns an error if a seed is incomplete. OpenSM checks the ends of z before those of y.
func checkSeed(conf *osm.TorusConf, s *osm.TorusSeed) error {
	for d := range dims {
		if conf.Radix[d] != 4 || conf.Mesh[d] {
			continue
		}
		for i, l := range []osm.TorusLink{s.Plus[d], s.Minus[d]} {
			if !l.Given {
				return fmt.Errorf("%c%c_link is missing; a ring of four needs both directions (ERR 4E%02X)", axes[d],
					"pm"[i], 0x22+3*d+i)
			}
		}
		if s.Plus[d].From != s.Minus[d].From {
			return fmt.Errorf("%cp_link and %cm_link begin at different switches (ERR 4E%02X)", axes[d],
				axes[d], 0x24+3*d)
		}
	}
	for i, d := range []int{0, 2, 1} {
		if conf.Radix[d] <= 1 {
			continue
		}
		code := []int{0x2b, 0x2c, 0x2e}[i]
		if !s.Plus[d].Given && !s.Minus[d].Given {
			return fmt.Errorf("%cp_link or %cm_link is missing (ERR 4E%02X)", axes[d], axes[d], code)
		}
		if d != 0 && !sameOrigin(s, d) {
			return fmt.Errorf("the links along x and %c begin at different switches (ERR 4E%02X)", axes[d], code+1)
		}
	}
	return nil
}

func sameOrigin(s *osm.TorusSeed, d int) bool {
	for _, a := range []osm.TorusLink{s.Plus[0], s.Minus[0]} {
		for _, b := range []osm.TorusLink{s.Plus[d], s.Minus[d]} {
			if a.Given && b.Given && a.From != b.From {
				return false
			}
		}
	}
	return true
}

// seedPresent reports whether the subnet has all switches of a seed.
func seedPresent(f *fabric.Fabric, conf *osm.TorusConf, s *osm.TorusSeed) bool {
	for d := range dims {
		for _, l := range []osm.TorusLink{s.Plus[d], s.Minus[d]} {
			if conf.Radix[d] > 1 && l.Given && (member(f, l.From) == fabric.None || member(f, l.To) == fabric.None) {
				return false
			}
		}
	}
	return true
}

// seedsWritten is the number of seeds that a configuration gets if the torus is large enough. Each seed remains usable
// if switches of the other seeds fail.
const seedsWritten = 3

// Config returns a configuration by which OpenSM finds this torus. The first seed is the seed from which the torus was
// found. The seeds share no switches.
func (t *Torus) Config() *osm.TorusConf { return t.config(seedsWritten, false) }

// config returns a configuration. The argument seeds is the maximum number of seeds. Seeds may share switches only if
// the argument shared is true.
func (t *Torus) config(seeds int, shared bool) *osm.TorusConf {
	c := *t.conf
	c.Seeds = []osm.TorusSeed{t.seed}
	used := map[uint64]bool{}
	use := func(s osm.TorusSeed) {
		for d := range dims {
			for _, l := range []osm.TorusLink{s.Plus[d], s.Minus[d]} {
				if l.Given && !shared {
					used[l.From], used[l.To] = true, true
				}
			}
		}
	}
	use(t.seed)
	n := len(t.switches)
	for k := range n {
		// Begin with a switch in the middle, which is far from the origin.
		s := int32((k + n/2) % n)
		if seed, ok := t.seedAt(s, used); ok && len(c.Seeds) < seeds {
			c.Seeds = append(c.Seeds, seed)
			use(seed)
		}
	}
	return &c
}

// seedAt returns the seed at switch s. It returns false if one of the seed's switches is missing or is marked in the
// argument used.
func (t *Torus) seedAt(s int32, used map[uint64]bool) (seed osm.TorusSeed, ok bool) {
	at := t.switches[s].at
	for d := range dims {
		if t.Radix[d] == 1 {
			continue
		}
		seed.Dateline[d] = -int32(at[d])
		up, down := t.next(s, 2*d+1), t.next(s, 2*d)
		both := t.Radix[d] == 4 && !t.Mesh[d]
		if up == absent && down == absent || both && (up == absent || down == absent) {
			return seed, false
		}
		if up != absent {
			seed.Plus[d] = linkOf(t.f, t.switches[s].sw, t.switches[up].sw)
		}
		if down != absent && (both || up == absent) {
			seed.Minus[d] = linkOf(t.f, t.switches[s].sw, t.switches[down].sw)
		}
		for _, l := range []osm.TorusLink{seed.Plus[d], seed.Minus[d]} {
			if l.Given && (used[l.From] || used[l.To]) {
				return seed, false
			}
		}
	}
	return seed, true
}

func linkOf(f *fabric.Fabric, from, to fabric.SwitchIndex) osm.TorusLink {
	return osm.TorusLink{From: f.SwitchNode(from).GUID, To: f.SwitchNode(to).GUID, Given: true}
}
