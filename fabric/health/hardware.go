// SPDX-License-Identifier: Apache-2.0

package health

import (
	"math"

	"example.org/ibconsole/fabric"
)

// Level is a measured value: a temperature in degrees Celsius, a fan speed in revolutions per minute, or an optical
// power in dBm.
type Level struct {
	Value float64
	Known bool
}

// LevelOf returns a known level.
func LevelOf(value float64) Level { return Level{value, true} }

// MaxLanes is the maximum number of lanes of a module.
const MaxLanes = 8

// Optics holds the optical powers of a module in dBm, lane by lane, with the limits that the module states.
type Optics struct {
	Rx, Tx       [MaxLanes]Level
	RxLow, TxLow Level
}

// Weakest returns the lowest power of the lanes that the module receives.
func (o *Optics) Weakest() Level {
	weakest := Level{Value: math.Inf(1)}
	for _, l := range o.Rx {
		if l.Known && l.Value < weakest.Value {
			weakest = l
		}
	}
	if !weakest.Known {
		return Level{}
	}
	return weakest
}

// Node holds data about the hardware of a node. The texts are not escaped. A text is empty if it was not read.
type Node struct {
	Firmware, PSID                  string
	Serial, Part, Revision, Product string
	Uptime                          Level // in seconds
	Sensors                         []Sensor
	Fans                            []Fan
	Supplies                        []Supply
}

// Hottest returns the highest temperature of the sensors of a node.
func (n *Node) Hottest() Level {
	hottest := Level{}
	for i := range n.Sensors {
		if c := n.Sensors[i].Celsius; c.Known && (!hottest.Known || c.Value > hottest.Value) {
			hottest = c
		}
	}
	return hottest
}

// Sensor is a temperature sensor. Highest is the highest temperature that it has measured.
type Sensor struct {
	Index            int
	Celsius, Highest Level
}

// Fan is a fan with its speed and the limits of its speed.
type Fan struct {
	Index         int
	RPM, Min, Max Level
}

// OutsideLimits reports whether the speed is known to be outside its limits.
func (f *Fan) OutsideLimits() bool {
	return f.RPM.Known && (f.Min.Known && f.RPM.Value < f.Min.Value || f.Max.Known && f.RPM.Value > f.Max.Value)
}

// Supply is a power supply. The texts are those of ibdiagnet, for example "OK"; they are empty if they were not read.
type Supply struct {
	Index                   int
	Present, DC, Alert, Fan string
	Serial                  string
}

// NodeAt returns the data of a node, nil if the report has none.
func (r *Report) NodeAt(node fabric.NodeIndex) *Node {
	if r == nil {
		return nil
	}
	return r.nodes[node]
}

// OfNode returns the data of a node. It adds the node to the report if necessary.
func (r *Report) OfNode(node fabric.NodeIndex) *Node {
	if r.nodes == nil {
		r.nodes = map[fabric.NodeIndex]*Node{}
	}
	n := r.nodes[node]
	if n == nil {
		n = &Node{}
		r.nodes[node] = n
	}
	return n
}

// HasNodes reports whether the report has data about the hardware of nodes.
func (r *Report) HasNodes() bool { return r != nil && len(r.nodes) > 0 }
