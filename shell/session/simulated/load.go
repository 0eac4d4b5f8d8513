// SPDX-License-Identifier: Apache-2.0

package simulated

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/places"
	"example.org/ibconsole/fabric/sim"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/checks/linkload"
	"example.org/ibconsole/routing/engines"
)

// words are the options of a source.
type words struct {
	isAdaptive bool
	narrow     bool    // counters of 32 bits
	used       float64 // utilization of the busiest link, from 0 to 1, if all hosts send to all others
	of         map[string][][]string
}

// parts is the number of parts, separated by colons, of the options about traffic.
var parts = map[string]int{"flow": 3, "drain": 2, "capacity": 2, "width": 2, "errors": 2, "flap": 3}

// options splits the argument of a source into its options and the rest.
//
// With adaptive=yes, the switches are of NVIDIA, hold groups of all ports on shortest up/down paths, and report these
// groups. With traffic=N%, all hosts send to all others. The others are those of [load.set].
func options(arg string) (rest string, w words, err error) {
	var kept []string
	w.of = map[string][][]string{}
	for word := range strings.SplitSeq(arg, " ") {
		name, value, _ := strings.Cut(word, "=")
		switch {
		case name == "adaptive":
			w.isAdaptive = value == "yes"
			if !w.isAdaptive && value != "no" {
				return "", w, fmt.Errorf("adaptive=%s: expected yes or no", value)
			}
		case name == "counters":
			w.narrow = value == "32"
			if !w.narrow && value != "64" {
				return "", w, fmt.Errorf("counters=%s: expected 32 or 64", value)
			}
		case name == "traffic":
			if w.used, err = percent(value); err != nil || w.used > 1 {
				return "", w, fmt.Errorf("traffic=%s: expected 0%% to 100%%", value)
			}
		case parts[name] > 0:
			list := strings.Split(value, ":")
			if len(list) != parts[name] {
				return "", w, fmt.Errorf("%s: expected %d parts separated by colons", word, parts[name])
			}
			w.of[name] = append(w.of[name], list)
		default:
			kept = append(kept, word)
		}
	}
	return strings.Join(kept, " "), w, nil
}

func percent(text string) (float64, error) {
	number, isPercent := strings.CutSuffix(text, "%")
	n, err := strconv.ParseFloat(number, 64)
	if err != nil || !isPercent || !(n >= 0 && n <= 1000) {
		return 0, fmt.Errorf("%q: expected a percentage, such as 80%%", text)
	}
	return n / 100, nil
}

// load is the traffic of a simulated subnet that the options describe.
type load struct {
	f      *fabric.Fabric
	finder places.HostFinder
	sim.Load
	widths map[fabric.PortIndex]fabric.Width
	flaps  []flap
}

// flap is a link that goes down after some time, and comes up after some more, again and again.
type flap struct {
	link     fabric.Link
	up, down time.Duration
}

// newLoad returns the traffic of the options: flow=SRC:DST:N% (each host of SRC has data for each host of DST, N % of
// the rate of its link), drain=HOST:N% (a host takes N % of the rate of its link), capacity=PORT:N% (a port sends at
// most N % of its rate), width=PORT:1x, errors=PORT:N (symbol errors per second that the port at the other end counts),
// and flap=PORT:UP:DOWN (seconds).
func newLoad(f *fabric.Fabric, w *words) (*load, error) {
	l := &load{f: f, finder: places.HostFinder{Fabric: f}, widths: map[fabric.PortIndex]fabric.Width{}}
	l.Capacity, l.Drain, l.Errors = map[fabric.PortIndex]float64{}, map[fabric.PortIndex]float64{},
		map[fabric.PortIndex]float64{}
	for name, set := range map[string]func([]string) error{"flow": l.flow, "drain": l.drain, "capacity": l.capacity,
		"width": l.width, "errors": l.errors, "flap": l.flap} {
		for _, list := range w.of[name] {
			if err := set(list); err != nil {
				return nil, fmt.Errorf("%s=%s: %w", name, strings.Join(list, ":"), err)
			}
		}
	}
	return l, nil
}

func (l *load) flow(list []string) error {
	from, err := l.finder.Find(list[0])
	if err != nil {
		return err
	}
	to, err := l.finder.Find(list[1])
	if err != nil {
		return err
	}
	share, err := percent(list[2])
	for _, src := range from {
		for _, dst := range to {
			if src != dst {
				l.Flows = append(l.Flows, sim.Flow{Src: src, DLID: l.f.Ports[dst].LID,
					Demand: share * l.f.Ports[src].DataRate()})
			}
		}
	}
	return err
}

func (l *load) drain(list []string) error {
	hosts, err := l.finder.Find(list[0])
	if err != nil {
		return err
	}
	share, err := percent(list[1])
	for _, h := range hosts {
		l.Drain[h] = share * l.f.Ports[h].DataRate()
	}
	return err
}

// port returns a port with a link.
func (l *load) port(text string) (fabric.PortIndex, error) {
	p, err := places.Link(l.f, []string{text})
	if err == nil && !l.f.Ports[p].Linked() {
		err = fmt.Errorf("%s has no link", l.f.PortName(p))
	}
	return p, err
}

func (l *load) capacity(list []string) error {
	p, err := l.port(list[0])
	if err != nil {
		return err
	}
	share, err := percent(list[1])
	l.Capacity[p] = share * l.f.Ports[p].DataRate()
	return err
}

func (l *load) width(list []string) error {
	p, err := l.port(list[0])
	if err != nil {
		return err
	}
	lanes, found := strings.CutSuffix(list[1], "x")
	n, err := strconv.Atoi(lanes)
	if w := fabric.Width(n); err != nil || !found || w.String() != list[1] {
		return fmt.Errorf("%q: expected 1x, 2x, 4x, 8x or 12x", list[1])
	}
	l.widths[p] = fabric.Width(n)
	return nil
}

func (l *load) errors(list []string) error {
	p, err := l.port(list[0])
	if err != nil {
		return err
	}
	n, err := strconv.ParseFloat(list[1], 64)
	if err != nil || !(n >= 0) || math.IsInf(n, 0) {
		return fmt.Errorf("%q: expected a number per second", list[1])
	}
	l.Errors[l.f.Ports[p].Peer] = n
	return nil
}

func (l *load) flap(list []string) error {
	p, err := l.port(list[0])
	if err != nil {
		return err
	}
	link, _ := l.f.LinkOf(p)
	var seconds [2]float64
	for i, text := range list[1:] {
		if seconds[i], err = strconv.ParseFloat(text, 64); err != nil || !(seconds[i] >= 0.1 && seconds[i] <= 1e6) {
			return fmt.Errorf("%q: expected 0.1 to 1000000 seconds", text)
		}
	}
	l.flaps = append(l.flaps, flap{link, time.Duration(seconds[0] * 1e9), time.Duration(seconds[1] * 1e9)})
	return nil
}

// start sets the traffic of a subnet and begins the flaps. The tables are those without a failure. After each change of
// a link, the switches get the tables of the default engine.
func (l *load) start(ctx context.Context, s *sim.Sim, tables *fabric.Tables) error {
	for p, w := range l.widths {
		s.Degrade(p, w, l.f.Ports[p].Speed)
	}
	if len(l.Flows)+len(l.Errors) > 0 {
		s.SetLoad(l.Load)
	}
	began := time.Now()
	for _, x := range l.flaps {
		engine, err := engines.ByName(engines.Default)
		if err != nil {
			return err
		}
		res, err := routing.Route(ctx, engine, l.f.Without([]fabric.Link{x.link}), routing.Options{})
		if err != nil {
			return err
		}
		x.schedule(s, began, tables, res.Tables)
	}
	return nil
}

// schedule schedules the next outage of a link.
func (x flap) schedule(s *sim.Sim, began time.Time, whole, without *fabric.Tables) {
	down := began.Add(x.up)
	up := down.Add(x.down)
	s.At(down, func() {
		_ = s.Unlink(x.link.A) // it has a cable
		s.SetTables(without)
	})
	s.At(up, func() {
		_ = s.Relink(x.link.A)
		s.SetTables(whole)
		x.schedule(s, up, whole, without)
	})
}

// Traffic returns the bytes per second that each port sends if all hosts send to all others over the paths of the
// tables. The rate is chosen so that the utilization of the busiest link is used (0 to 1).
func Traffic(ctx context.Context, t *fabric.Tables, used float64) ([]float64, error) {
	l, err := linkload.AllToAll(ctx, t, linkload.Options{})
	if err != nil {
		return nil, err
	}
	path := math.Inf(1) // bytes per second of each path
	for i, paths := range l.Paths {
		if rate := t.Fabric.Ports[i].DataRate(); paths > 0 && rate > 0 {
			path = min(path, used*rate/float64(paths))
		}
	}
	bytes := make([]float64, len(l.Paths))
	if !math.IsInf(path, 1) {
		for i, paths := range l.Paths {
			bytes[i] = path * float64(paths)
		}
	}
	return bytes, nil
}
