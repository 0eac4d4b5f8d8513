// SPDX-License-Identifier: Apache-2.0

package linkload

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"example.org/ibconsole/fabric"
)

// Class is the class of one direction of a link: from a host, to a host, or between switches.
type Class uint8

// The classes.
const (
	// None is the class of an open port or an unreachable link.
	None Class = iota
	FromHost
	ToHost
	BetweenSwitches
)

var classNames = [...]string{
	None: "no link", FromHost: "from hosts", ToHost: "to hosts", BetweenSwitches: "between switches",
}

// String returns the class as text, such as "between switches".
func (c Class) String() string {
	if int(c) >= len(classNames) {
		return fmt.Sprintf("class %d", uint8(c))
	}
	return classNames[c]
}

// ClassOf returns the class of the link of a port, in the direction that leaves the port.
func ClassOf(f *fabric.Fabric, port fabric.PortIndex) Class {
	p := &f.Ports[port]
	switch {
	case !f.Discovered(port):
		return None
	case !f.Nodes[p.Node].IsSwitch():
		return FromHost
	case f.PeerSwitch(port) == fabric.None:
		return ToHost
	}
	return BetweenSwitches
}

// Stats summarizes the paths over a set of links.
type Stats struct {
	Links int
	// Unknown is the number of links whose load is not known. The other fields leave these links out.
	Unknown int
	// Unused is the number of links without any path.
	Unused int
	Min    int64
	Max    int64
	Mean   float64
	// StdDev is the standard deviation over these links.
	StdDev float64
}

// Kind summarizes the links of one class, width and speed.
type Kind struct {
	Class Class
	Width string
	Speed string
	Stats
}

// Link is one direction of a link, with its load.
type Link struct {
	// Port is the port by which packets leave.
	Port         fabric.PortIndex
	Paths        int64
	Destinations int32
}

// Summary summarizes loads.
type Summary struct {
	// EdgeForwardingIndex is the maximum number of paths over a link between switches.
	EdgeForwardingIndex int64
	// Classes has the loads of each class of links. Kinds has the loads of each class, width and speed. Both omit
	// entries without links.
	Classes []Kind
	Kinds   []Kind
	// Worst lists the links between switches with most paths, in descending order of paths and then by port index.
	Worst []Link
}

// Summary returns a summary. The argument worst is the maximum number of links in its field Worst. O(ports log ports).
func (l *Loads) Summary(worst int) Summary {
	type key struct {
		class Class
		width fabric.Width
		speed fabric.Speed
	}
	f := l.Fabric
	classes, kinds := map[key]*sums{}, map[key]*sums{}
	var s Summary
	for i, n := range l.Paths {
		class := ClassOf(f, fabric.PortIndex(i))
		if class == None {
			continue
		}
		known := l.Known(fabric.PortIndex(i))
		add(classes, key{class: class}, n, known)
		add(kinds, key{class, f.Ports[i].Width, f.Ports[i].Speed}, n, known)
		if class == BetweenSwitches {
			s.EdgeForwardingIndex = max(s.EdgeForwardingIndex, n)
			if n > 0 {
				s.Worst = append(s.Worst, Link{fabric.PortIndex(i), n, l.Destinations[i]})
			}
		}
	}
	slices.SortStableFunc(s.Worst, func(a, b Link) int { return cmp.Compare(b.Paths, a.Paths) })
	s.Worst = slices.Clone(s.Worst[:min(worst, len(s.Worst))])
	for k, sum := range classes {
		s.Classes = append(s.Classes, Kind{Class: k.class, Stats: sum.stats()})
	}
	for k, sum := range kinds {
		s.Kinds = append(s.Kinds, Kind{Class: k.class, Width: k.width.String(), Speed: k.speed.String(),
			Stats: sum.stats()})
	}
	order := func(a, b Kind) int {
		return cmp.Or(cmp.Compare(a.Class, b.Class), cmp.Compare(a.Speed, b.Speed), cmp.Compare(a.Width, b.Width))
	}
	slices.SortStableFunc(s.Classes, order)
	slices.SortStableFunc(s.Kinds, order)
	return s
}

func add[K comparable](m map[K]*sums, k K, n int64, known bool) {
	if m[k] == nil {
		m[k] = &sums{min: math.MaxInt64}
	}
	m[k].add(n, known)
}

// sums are the sums for [Stats].
type sums struct {
	links, unused  int
	unknown        int
	min, max       int64
	total, squares float64
}

func (s *sums) add(n int64, known bool) {
	s.links++
	if !known {
		s.unknown++
		return
	}
	if n == 0 {
		s.unused++
	}
	s.min, s.max = min(s.min, n), max(s.max, n)
	s.total += float64(n)
	s.squares += float64(n) * float64(n)
}

func (s *sums) stats() Stats {
	out := Stats{Links: s.links, Unknown: s.unknown, Unused: s.unused, Max: s.max}
	if n := float64(s.links - s.unknown); n > 0 {
		out.Min, out.Mean = s.min, s.total/n
		out.StdDev = math.Sqrt(max(0, s.squares/n-out.Mean*out.Mean))
	}
	return out
}
