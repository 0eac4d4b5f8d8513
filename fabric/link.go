// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"math/bits"
	"slices"
	"strconv"

	"example.org/ibconsole/mad"
)

// Width is the number of lanes of a link, 0 if the number is unknown.
type Width uint8

// String returns the width as infiniband-diags prints it, for example "4x".
func (w Width) String() string {
	switch w {
	case 1, 2, 4, 8, 12:
		return strconv.Itoa(int(w)) + "x"
	}
	return "??"
}

// Speed is the signalling rate of a lane.
type Speed uint8

// The speeds, in ascending order of bandwidth.
const (
	SpeedUnknown Speed = iota
	SDR
	DDR
	QDR
	FDR10
	FDR
	EDR
	HDR
	NDR
	XDR
)

var speedNames = [...]string{"???", "SDR", "DDR", "QDR", "FDR10", "FDR", "EDR", "HDR", "NDR", "XDR"}

// String returns the speed as infiniband-diags prints it, for example "HDR".
func (s Speed) String() string {
	if int(s) < len(speedNames) {
		return speedNames[s]
	}
	return speedNames[SpeedUnknown]
}

// ParseSpeed returns the speed for a text that [Speed.String] returned.
func ParseSpeed(s string) (Speed, bool) {
	i := slices.Index(speedNames[1:], s) + 1
	return Speed(i), i > 0
}

// Link is a cable between two ports, with A < B.
type Link struct{ A, B PortIndex }

// Links returns every link that is up, without duplicates, in ascending order of A. O(ports).
func (f *Fabric) Links() []Link {
	links := make([]Link, 0, len(f.Ports)/2)
	for i := range f.NumPorts() {
		if p := f.Ports[i].Peer; p > i {
			links = append(links, Link{i, p})
		}
	}
	return links
}

// LinkOf returns the link of a port. ok is false if the link is down.
func (f *Fabric) LinkOf(port PortIndex) (l Link, ok bool) {
	peer := f.Ports[port].Peer
	if peer == None {
		return Link{}, false
	}
	return Link{min(port, peer), max(port, peer)}, true
}

// lanes holds the rates per lane in Gb/s, as IBA 1.2.1 and its supplements define them: the nominal rate in the name of
// the speed, the signaling rate, and the data rate without the overhead of line coding. From HDR on, forward error
// correction makes up for the coding, and all three are the same.
var lanes = [...]struct{ nominal, signal, data float64 }{
	SDR: {2.5, 2.5, 2}, DDR: {5, 5, 4}, QDR: {10, 10, 8}, FDR10: {10, 10.3125, 10}, FDR: {14, 14.0625, 13.64},
	EDR: {25, 25.78125, 25}, HDR: {50, 50, 50}, NDR: {100, 100, 100}, XDR: {200, 200, 200},
}

// Gbps returns the nominal rate of a port's link in Gb/s, 0 if it is unknown.
func (p *Port) Gbps() float64 {
	if int(p.Speed) >= len(lanes) {
		return 0
	}
	return float64(p.Width) * lanes[p.Speed].nominal
}

// SignalRate returns the signaling rate of a port's link in bytes per second, 0 if it is unknown.
func (p *Port) SignalRate() float64 {
	if int(p.Speed) >= len(lanes) {
		return 0
	}
	return float64(p.Width) * lanes[p.Speed].signal * 1e9 / 8
}

// DataRate returns the data rate of a port's link in bytes per second, 0 if it is unknown.
func (p *Port) DataRate() float64 {
	if int(p.Speed) >= len(lanes) {
		return 0
	}
	return float64(p.Width) * lanes[p.Speed].data * 1e9 / 8
}

// SpeedOf returns the fastest speed of a set, [SpeedUnknown] for an empty set.
func SpeedOf(set mad.LinkSpeed) Speed { return Speed(bits.Len16(uint16(set))) }

// LinkLimit holds the greatest width and speed that a port has enabled, and the greatest that it supports. Unknown
// values are 0.
type LinkLimit struct {
	WidthEnabled, WidthSupported Width
	SpeedEnabled, SpeedSupported Speed
}

// Common returns the greatest width and speed that both ends of a link allow.
func (l LinkLimit) Common(other LinkLimit) LinkLimit {
	return LinkLimit{
		min(l.WidthEnabled, other.WidthEnabled), min(l.WidthSupported, other.WidthSupported),
		min(l.SpeedEnabled, other.SpeedEnabled), min(l.SpeedSupported, other.SpeedSupported),
	}
}

// Known reports whether all four values are known.
func (l LinkLimit) Known() bool {
	return l.WidthEnabled != 0 && l.WidthSupported != 0 && l.SpeedEnabled != 0 && l.SpeedSupported != 0
}
