// SPDX-License-Identifier: Apache-2.0

// Package health holds what ports say of their links beside counters: forward error correction, retransmission, bit
// error rates, and the cables in them with their temperatures.
package health

import (
	"fmt"
	"maps"
	"slices"

	"example.org/ibconsole/fabric"
)

// Report is what was said of the ports of a fabric. The zero value is empty and ready.
type Report struct {
	ports map[fabric.PortIndex]*Port
}

// Port is what was said of a port.
type Port struct {
	FEC     FEC
	Retrans Retrans
	BER     [NumBERs]Rate
	Cable   *Cable // nil where none was read
}

// At is what was said of a port, nil for nothing.
func (r *Report) At(port fabric.PortIndex) *Port {
	if r == nil {
		return nil
	}
	return r.ports[port]
}

// Of is the place for what is said of a port.
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

// Ports are those of which something was said, in ascending order.
func (r *Report) Ports() []fabric.PortIndex {
	if r == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(r.ports))
}

// Unknown is the FEC or the retransmission of which nothing was said.
const Unknown = 255

// FEC is the forward error correction of a link, as ibdiagnet numbers it.
type FEC uint8

// NoFEC is that of links without.
const NoFEC FEC = 0

// String is its name.
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

// Retrans is the retransmission of a link on the physical layer, as ibdiagnet numbers it.
type Retrans uint8

var retransmissions = [...]string{"none", "LLR64", "LLR128", "PLR"}

// String is its name.
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
	RawBER       = iota // before errors are corrected
	EffectiveBER        // after
	SymbolBER           // after retransmission, too
	NumBERs
)

// Rate is a bit error rate, if it is known.
type Rate struct {
	Value float64
	Known bool
}

// String gives it as ibdiagnet does: "1.5E-254", "?" where it is not known.
func (r Rate) String() string {
	if !r.Known {
		return "?"
	}
	return fmt.Sprintf("%.2g", r.Value)
}

// Cable is what a cable or a module says of itself. The texts are as they came, never escaped.
type Cable struct {
	Vendor, Part, Serial, Revision, Length, Type, Firmware string
	Celsius                                                int
	Measured                                               bool // says that it told its temperature
}
