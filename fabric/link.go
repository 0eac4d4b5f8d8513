// SPDX-License-Identifier: Apache-2.0

package fabric

// Width is the number of lanes of a link, 0 where unknown.
type Width uint8

// String gives the width in the words of the InfiniBand diagnostics: "4x".
func (w Width) String() string {
	switch w {
	case 1:
		return "1x"
	case 2:
		return "2x"
	case 4:
		return "4x"
	case 8:
		return "8x"
	case 12:
		return "12x"
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

// String gives the speed in the words of the InfiniBand diagnostics: "HDR".
func (s Speed) String() string {
	if int(s) < len(speedNames) {
		return speedNames[s]
	}
	return speedNames[SpeedUnknown]
}

// ParseSpeed is the inverse of [Speed.String].
func ParseSpeed(s string) (Speed, bool) {
	for i, n := range speedNames {
		if i > 0 && n == s {
			return Speed(i), true
		}
	}
	return SpeedUnknown, false
}

// Link is a cable, named by its two ports with A < B.
type Link struct{ A, B PortIndex }

// Links returns every link that is up, each once, in ascending order of A. O(ports).
func (f *Fabric) Links() []Link {
	links := make([]Link, 0, len(f.Ports)/2)
	for i := range f.NumPorts() {
		if p := f.Ports[i].Peer; p > i {
			links = append(links, Link{i, p})
		}
	}
	return links
}

// LinkOf returns the link of a port; ok is false where it is down.
func (f *Fabric) LinkOf(port PortIndex) (l Link, ok bool) {
	peer := f.Ports[port].Peer
	if peer == None {
		return Link{}, false
	}
	return Link{min(port, peer), max(port, peer)}, true
}
