// SPDX-License-Identifier: Apache-2.0

package load

import (
	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/routing/checks/linkload"
	"example.org/ibconsole/shell/session/recording"
)

// used is the map of what links sent in the last hour of the time that is shown, in thousandths of what they can.
type used struct {
	of   *recording.Recent // what it was made of
	load *loading
	heat heat
}

// ofUse reports whether the map is of what links sent, not of the paths over them.
func (l *links) ofUse() bool { return l.Kind >= usedUpwards }

// heat is the map that is shown.
func (l *links) heat() *heat {
	if l.ofUse() {
		return &l.used.heat
	}
	return &l.load.heat
}

// measure makes the map of use anew where it is of another time or fabric.
func (l *links) measure() {
	recent := l.Scene.Recent()
	if u := &l.used; u.of != recent || u.load != l.load {
		*u = used{of: recent, load: l.load}
		if recent != nil {
			u.heat = newHeat(l.load.loads.Fabric, l.use, l.meanUse(), l.Scene.Names)
		}
	}
}

// use is in thousandths what part of its link a port sent with, -1 where nothing was recorded of it.
func (l *links) use(port fabric.PortIndex) int64 {
	key := counters.KeyOf(l.load.loads.Fabric, port)
	if !l.used.of.IsRead(key) {
		return -1
	}
	return int64(1000*max(l.used.of.Use(key), 0) + 0.5)
}

// meanUse is that of the links between switches.
func (l *links) meanUse() float64 {
	f := l.load.loads.Fabric
	sum, n := int64(0), 0
	for p := range f.NumPorts() {
		if u := l.use(p); linkload.ClassOf(f, p) == linkload.BetweenSwitches && u >= 0 {
			sum, n = sum+u, n+1
		}
	}
	return float64(sum) / float64(max(n, 1))
}
