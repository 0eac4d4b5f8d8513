// SPDX-License-Identifier: Apache-2.0

package torus

import (
	"context"
	"errors"
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/osm"
	"example.org/ibconsole/routing"
)

// Foresight is the result of [Torus.Foresee].
type Foresight struct {
	// Conf is the best configuration. Shift is the number of places by which its datelines are moved.
	Conf  *osm.TorusConf
	Shift Coordinates
	// Failures counts the failures that were tried with it. Loops lists those after which multicast and unicast
	// together have a credit loop. Refused lists those after which torus-2QoS refuses the subnet.
	Failures       int
	Loops, Refused []Loss
	// Tried counts the positions of the datelines that were tried.
	Tried int
}

// Loss is the failure of a link or of all links of a switch.
type Loss struct {
	Switch fabric.NodeIndex // None for a link
	Links  []fabric.Link
}

// Foresee searches for datelines, and so a root of the multicast tree, with which no failure of a single switch or link
// leads to a credit loop of unicast with a multicast group of all hosts. If there are none, it returns the datelines
// with the fewest such failures. The function progress is called with the number of routings and of all routings. Each
// position of the datelines takes a routing and a check for each switch, and the best one also for each link.
func (t *Torus) Foresee(ctx context.Context, opt routing.Options, progress func(done, total int)) (*Foresight, error) {
	switches, links := t.losses()
	shifts := []Coordinates{{}}
	for d := dims - 1; d >= 0; d-- {
		for i := 1; i < t.Radix[d] && !t.Mesh[d]; i++ {
			shifts = append(shifts, Coordinates{}.moved(d, i))
		}
	}
	done, total := 0, len(shifts)*len(switches)+len(links)
	opt.Progress = nil
	try := func(conf *osm.TorusConf, losses []Loss) (loops, refused []Loss, err error) {
		for _, l := range losses {
			loop, err := t.loopAfter(ctx, conf, l, opt)
			if _, no := errors.AsType[*routing.RefusedError](err); no {
				refused, err = append(refused, l), nil
			}
			if err != nil {
				return nil, nil, err
			}
			if loop {
				loops = append(loops, l)
			}
			done++
			progress(done, total)
		}
		return loops, refused, nil
	}
	var best *Foresight
	for _, by := range shifts {
		conf := t.movedBy(by)
		loops, refused, err := try(conf, switches)
		if err != nil {
			return nil, fmt.Errorf("try datelines: %w", err)
		}
		if best == nil || len(loops)+len(refused) < len(best.Loops)+len(best.Refused) {
			best = &Foresight{Conf: conf, Shift: by, Loops: loops, Refused: refused}
		}
		if len(loops)+len(refused) == 0 {
			break
		}
	}
	loops, refused, err := try(best.Conf, links)
	if err != nil {
		return nil, fmt.Errorf("try datelines: %w", err)
	}
	best.Loops, best.Refused = append(best.Loops, loops...), append(best.Refused, refused...)
	best.Failures, best.Tried = len(switches)+len(links), len(shifts)
	return best, nil
}

// losses lists the failures of each switch and of each link between switches.
func (t *Torus) losses() (switches, links []Loss) {
	for _, n := range t.f.Switches {
		l := Loss{Switch: n}
		node := &t.f.Nodes[n]
		for p := range node.Slots() {
			if link, ok := t.f.LinkOf(p); ok {
				l.Links = append(l.Links, link)
			}
		}
		switches = append(switches, l)
	}
	for _, l := range t.f.Links() {
		if t.f.PeerSwitch(l.A) != fabric.None && t.f.PeerSwitch(l.B) != fabric.None {
			links = append(links, Loss{fabric.None, []fabric.Link{l}})
		}
	}
	return switches, links
}

// loopAfter reports whether there is a credit loop after a failure.
func (t *Torus) loopAfter(ctx context.Context, conf *osm.TorusConf, l Loss, opt routing.Options) (bool, error) {
	res, err := Engine{Conf: conf}.Route(ctx, t.f.Without(l.Links), opt)
	if err != nil {
		return false, err
	}
	other, ok := Of(res.Tables)
	if !ok {
		return false, nil
	}
	r, err := other.withAllHosts(ctx, res.Tables)
	return err == nil && r.Ring != nil, err
}
