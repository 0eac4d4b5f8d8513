// SPDX-License-Identifier: Apache-2.0

package umad

import (
	"errors"
	"fmt"
	"strings"

	"example.org/ibconsole/mad"
)

// ErrNoPort reports that no port matches.
var ErrNoPort = errors.New("no InfiniBand port is usable")

// Selector selects a port.
type Selector struct {
	CA   string // "": any
	Port int    // AnyPort: any
}

// AnyPort matches all ports.
const AnyPort = -1

// ParseSelector parses a selector of the form "", "CA" or "CA:PORT".
func ParseSelector(s string) (Selector, error) {
	sel := Selector{Port: AnyPort}
	ca, number, found := strings.Cut(s, ":")
	sel.CA = ca
	if !found {
		return sel, nil
	}
	if ca == "" {
		return sel, fmt.Errorf("%q has no adapter, expected CA or CA:PORT", s)
	}
	port, err := parsePort(number)
	if err != nil {
		return sel, fmt.Errorf("%q: port %w", s, err)
	}
	sel.Port = port
	return sel, nil
}

// Choose returns the selected port. If the selector has no port number, it returns the first active InfiniBand port. If
// no port is active, it returns the first port whose link is up, because a subnet manager may not have configured the
// port yet. The error wraps [ErrNoPort] and lists the existing ports.
func (s Selector) Choose(ports []Port) (Port, error) {
	best, rank := Port{}, 0
	for _, p := range ports {
		if plane, ok := s.plane(p); ok {
			p = plane
		} else if s.CA != "" && p.CA != s.CA || s.Port != AnyPort && p.Number != s.Port {
			continue
		}
		if s.Port != AnyPort {
			return p, nil
		}
		if r := p.rank(); r > rank {
			best, rank = p, r
		}
	}
	if rank == 0 {
		return Port{}, fmt.Errorf("%w: %s", ErrNoPort, s.why(ports))
	}
	return best, nil
}

// rank returns the preference of the port, 0 if the port cannot be used.
func (p Port) rank() int {
	switch {
	case p.LinkLayer != InfiniBand || p.Umad == "":
		return 0
	case p.State == mad.PortActive:
		return 2
	case p.State == mad.PortInit || p.State == mad.PortArmed:
		return 1
	}
	return 0
}

// Active returns those active InfiniBand ports that have a device, in the order of ports.
func Active(ports []Port) (active []Port) {
	for _, p := range ports {
		if p.rank() == 2 {
			active = append(active, p)
		}
	}
	return active
}

// why returns a text that lists the ports that exist instead of the selected port.
func (s Selector) why(ports []Port) string {
	if len(ports) == 0 {
		return "this machine shows no InfiniBand adapter"
	}
	var all, here []string
	for _, p := range ports {
		text := fmt.Sprintf("%v (%s, %v)", p, p.LinkLayer, p.State)
		if p.Umad == "" {
			text = fmt.Sprintf("%v (no umad device)", p)
		}
		all = append(all, text)
		if p.CA == s.CA {
			here = append(here, text)
		}
	}
	switch {
	case s.CA == "":
		return "none is an InfiniBand port with a link: " + strings.Join(all, ", ")
	case len(here) == 0:
		return fmt.Sprintf("there is no adapter %s, only %s", s.CA, strings.Join(all, ", "))
	case s.Port == AnyPort:
		return "none is an InfiniBand port with a link: " + strings.Join(here, ", ")
	}
	return fmt.Sprintf("%s has no port %d, only %s", s.CA, s.Port, strings.Join(here, ", "))
}

// Usable returns the default port, if there is one and this process may open or already holds its device. Otherwise the
// error wraps [ErrNoPort].
func Usable(root string, h *HeldDevices) (Port, error) {
	ports, _ := Ports(root) // ports that cannot be read are unusable
	p, err := Selector{Port: AnyPort}.Choose(ports)
	if err != nil {
		return p, err
	}
	for _, name := range p.devices() {
		if err := mayOpen(devicePath(root, name), h); err != nil {
			return p, err
		}
	}
	return p, nil
}
