// SPDX-License-Identifier: Apache-2.0

package umad

import (
	"errors"
	"fmt"
	"strings"

	"example.org/ibconsole/mad"
)

// ErrNoPort says that no port fits what was asked for.
var ErrNoPort = errors.New("no port to use")

// Selector says which port is meant.
type Selector struct {
	CA   string // "": any
	Port int    // AnyPort: any
}

// AnyPort stands for no port in particular.
const AnyPort = -1

// ParseSelector reads "", "CA" or "CA:PORT".
func ParseSelector(s string) (Selector, error) {
	sel := Selector{Port: AnyPort}
	ca, number, found := strings.Cut(s, ":")
	sel.CA = ca
	if !found {
		return sel, nil
	}
	if ca == "" {
		return sel, fmt.Errorf("%q names no adapter, expected CA or CA:PORT", s)
	}
	port, err := parsePort(number)
	if err != nil {
		return sel, fmt.Errorf("%q: port %w", s, err)
	}
	sel.Port = port
	return sel, nil
}

// Choose returns the port that the selector means: the port itself if it names one; else the first InfiniBand
// port that is active; else the first whose link is up, as ports are before a subnet manager has seen them.
// The error wraps [ErrNoPort] and lists what there is.
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

// rank says how good a choice the port is, 0 for none.
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

// Active are the InfiniBand ports that are active and have a device, in their order.
func Active(ports []Port) (active []Port) {
	for _, p := range ports {
		if p.rank() == 2 {
			active = append(active, p)
		}
	}
	return active
}

// why says what there is instead.
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

// Usable returns the port that a user means who names none, if there is one and
// this process may open it, or holds it. The error wraps [ErrNoPort] if there is none.
func Usable(root string, h *Held) (Port, error) {
	ports, _ := Ports(root) // a port that cannot be read is none to use
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
