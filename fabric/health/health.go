// SPDX-License-Identifier: Apache-2.0

// Package health holds data about the condition of links and nodes other than counters: forward error correction,
// retransmission, bit error rates, cables with their temperatures, firmware, fans and power supplies.
package health

import (
	"fmt"
	"maps"
	"slices"

	"example.org/ibconsole/fabric"
)

// Report holds the health data of the ports and nodes of a fabric. The zero value is empty.
type Report struct {
	ports map[fabric.PortIndex]*Port
	nodes map[fabric.NodeIndex]*Node
}

// Port is the health of a port.
type Port struct {
	FEC     FEC
	Retrans Retrans
	BER     [NumBERs]Rate
	Cable   *Cable // nil if it was not read
}

// At returns the health data of a port, nil if the report has none.
func (r *Report) At(port fabric.PortIndex) *Port {
	if r == nil {
		return nil
	}
	return r.ports[port]
}

// Of returns the health data of a port. It adds the port to the report if necessary.
func (r *Report) Of(port fabric.PortIndex) *Port {
	if r.ports == nil {
		r.ports = map[fabric.PortIndex]*Port{}
	}
	p := r.ports[port]
	if p == nil {
		p = &Port{FEC: Unknown, Retrans: Unknown}
		r.ports[port] = p
	}
	return p
}

// Ports returns the ports with health data in ascending order.
func (r *Report) Ports() []fabric.PortIndex {
	if r == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(r.ports))
}

// Unknown is an unknown FEC or Retrans.
const Unknown = 255

// FEC is the forward error correction of a link. The numbers are those of ibdiagnet.
type FEC uint8

// NoFEC means that the link has no forward error correction.
const NoFEC FEC = 0

// String returns its name.
func (f FEC) String() string {
	switch {
	case f == Unknown:
		return "?"
	case int(f) < len(fecs):
		return fecs[f]
	case f >= 8 && f <= 14:
		return fmt.Sprintf("the vendor's %d", uint8(f))
	}
	return fmt.Sprintf("number %d", uint8(f))
}

var fecs = [...]string{"none", "Firecode", "RS", "low-latency RS", "RS 544,514"}

// Retrans is the retransmission mode of a link on the physical layer. The numbers are those of ibdiagnet.
type Retrans uint8

var retransmissions = [...]string{"none", "LLR64", "LLR128", "PLR"}

// String returns its name.
func (r Retrans) String() string {
	switch {
	case r == Unknown:
		return "?"
	case int(r) < len(retransmissions):
		return retransmissions[r]
	}
	return fmt.Sprintf("number %d", uint8(r))
}

// The bit error rates of a link.
const (
	RawBER       = iota // before error correction
	EffectiveBER        // after error correction
	SymbolBER           // after retransmission
	NumBERs
)

// Rate is a bit error rate.
type Rate struct {
	Value float64
	Known bool
}

// String returns the rate as ibdiagnet writes it, for example "1.5E-254". It returns "?" if the rate is unknown.
func (r Rate) String() string {
	if !r.Known {
		return "?"
	}
	return fmt.Sprintf("%.2g", r.Value)
}

// Cable holds the description that a cable or module stores in its own memory. The texts are not escaped.
type Cable struct {
	Vendor, Part, Serial, Revision, Length, Type, Firmware string
	Celsius                                                int
	Measured                                               bool // Celsius is known
	Optics
}
