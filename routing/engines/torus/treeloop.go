// SPDX-License-Identifier: Apache-2.0

package torus

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
)

// TreeLoop is a credit loop of unicast paths together with a multicast group of all hosts. Around a missing
// switch in the row of the middle there is one in the very tree that torus-2QoS(8) draws and OpenSM makes: the
// root leaves that row, and packets that come up to it turn where unicast packets turn around the missing switch.
type TreeLoop struct {
	// Torus is the one whose tree has the loop, and Links is how many links the loop has.
	*Torus
	Links int
	// Clear is a configuration with other datelines, and so with another root, that gives none; nil where
	// none was found. Moved says by how many places its datelines are others.
	Clear *Config
	Moved Coordinates
	// Root is the root that Clear gives, and Others is how many of the pairs of switches have other SLs with it.
	Root          fabric.SwitchIndex
	Others, Pairs int
}

// TreeLoop looks for a credit loop of tables of this torus together with multicast, and where there is one for
// datelines without. It is nil for a torus without missing switches, whose tree needs no check. Beside the
// check, and with a loop as many routes and checks as the torus has places along its axes, O(switches). It is
// nil for tables of another fabric than the torus's, which were not made by its engine now.
func (t *Torus) TreeLoop(ctx context.Context, tables *fabric.Tables, opt routing.Options) (*TreeLoop, error) {
	if t.f != tables.Fabric || len(t.missing()) == 0 {
		return nil, nil
	}
	r, err := t.withAllHosts(ctx, tables)
	if err != nil || r.Ring == nil {
		return nil, err
	}
	l := &TreeLoop{Torus: t, Links: len(r.Ring), Root: fabric.None}
	for d := dims - 1; d >= 0; d-- { // the dimension routed last is the one that helps
		for i := 1; i < t.Radix[d] && !t.Mesh[d]; i++ {
			// From half of the ring on, which brings what is missing in the middle, where the root should be, furthest
			// away.
			found, err := l.try(ctx, Coordinates{}.moved(d, 1+(i-1+t.Radix[d]/2-1)%(t.Radix[d]-1)), opt)
			if err != nil || found {
				return l, err
			}
		}
	}
	return l, nil
}

// Lacks reports whether switches of the torus are missing.
func (t *Torus) Lacks() bool { return len(t.missing()) > 0 }

// try moves the datelines, and reports whether there is no loop then.
func (l *TreeLoop) try(ctx context.Context, by Coordinates, opt routing.Options) (bool, error) {
	res, err := Engine{Conf: l.movedBy(by)}.Route(ctx, l.f, opt)
	if _, refused := errors.AsType[*routing.RefusedError](err); refused {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	other, _ := Of(res.Tables)
	r, err := other.withAllHosts(ctx, res.Tables)
	if err != nil || r.Ring != nil {
		return false, err
	}
	l.Clear, l.Moved, l.Root = other.Config(), by, other.tree.Root
	l.compare(other)
	return true, nil
}

// movedBy is the configuration with all coordinates moved up.
func (t *Torus) movedBy(by Coordinates) *Config {
	conf := *t.conf
	conf.Seeds = slices.Clone(conf.Seeds)
	for i := range conf.Seeds {
		line := &conf.Seeds[i].Dateline
		for d, n := range by {
			line[d] = -int32(wrap(n-int(line[d]), t.Radix[d]))
		}
	}
	return &conf
}

// compare counts the pairs of switches with other SLs.
func (l *TreeLoop) compare(other *Torus) {
	for a := range l.switches {
		for b := range l.switches {
			if a == b {
				continue
			}
			l.Pairs++
			if l.between(int32(a), int32(b)) != other.between(other.of[l.switches[a].sw], other.of[l.switches[b].sw]) {
				l.Others++
			}
		}
	}
}

// String says what there is and what helps.
func (l *TreeLoop) String() string {
	text := fmt.Sprintf("multicast to all hosts along the tree from %s has, together with unicast, a credit loop of "+
		"%d links around the missing switches at %s; "+
		"torus-2QoS(8) draws that tree for free of them, and OpenSM makes it too", l.name(l.tree.root), l.Links,
		few(l.missing()))
	if l.Clear == nil {
		return text + "; no datelines that were tried give a root without one"
	}
	for d, by := range l.Moved {
		if by != 0 {
			text += fmt.Sprintf("; with the %c dateline %d further down the root is %s and there is none", axes[d], by,
				l.SwitchName(l.Root))
		}
	}
	return text + fmt.Sprintf(", but %d of %d pairs of switches get other SLs, which their hosts must ask for anew",
		l.Others, l.Pairs)
}
