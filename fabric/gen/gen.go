// SPDX-License-Identifier: Apache-2.0

// Package gen generates fat-trees, pruned trees, tori, meshes, hypercubes, dragonflies and random graphs.
//
// A generated fabric equals the subnet that ibsim simulates from the file that [WriteNet] writes for the fabric. It has
// the same GUIDs, descriptions, port states, widths and speeds, and no LIDs. Nodes are in the order of the file. Hosts
// come first, so the SM is on the first host.
package gen

import (
	"fmt"
	"strings"

	"example.org/ibconsole/fabric"
)

// Kind is a kind of topology that [Parse] can generate.
type Kind struct {
	Name  string
	Usage string // the arguments: "torus XxYx... [hosts=1] [links=1]"
	Help  string // describes the topology

	form  form
	build func(*net, arguments) error
}

// Params returns the names of the arguments that only this kind takes. [Common] returns the arguments that all kinds
// take.
func (k Kind) Params() []string {
	var names []string
	for _, p := range k.form.params {
		names = append(names, p.name)
	}
	return names
}

// Kinds returns all kinds of topologies in the order in which the help lists them.
func Kinds() []Kind {
	return []Kind{
		fatTreeKind(), xgftKind(), gridKind("torus", true), gridKind("mesh", false),
		hypercubeKind(), dragonflyKind(), bullKind(), randomKind(),
		railTreeKind(), multiPlaneKind(), directorKind(), dfPlusKind(),
	}
}

// Parse generates a fabric of the given kind. Arguments are given by position or by name ("ports=36"). They may be
// separate or joined by commas ("3", "36" or "3,36"). Every kind takes the options of [Common]. Links are SDR if no
// speed is given.
//
// Parse returns an error for an unknown kind or argument, if a switch would need more than 254 ports, and if the ports
// would need more LIDs than exist. O(ports log ports).
func Parse(kind string, args []string) (*fabric.Fabric, error) {
	return generate(kind, args, defaultSpeed)
}

func generate(kind string, args []string, speed fabric.Speed) (*fabric.Fabric, error) {
	k, err := find(kind)
	if err != nil {
		return nil, err
	}
	a, err := k.form.parse(args)
	if err != nil {
		return nil, fmt.Errorf("%s: %w; usage: %s", k.Name, err, k.Usage)
	}
	n := net{speed: speed, aggregation: a.value["agg"] == 1, rail: a.value["rail"]}
	if at, ok := a.value["speed"]; ok {
		n.speed = speeds[at]
	}
	if err = k.build(&n, a); err == nil && n.aggregation {
		err = n.addAggregation()
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", k.Name, err)
	}
	f, err := n.b.Build()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", k.Name, err)
	}
	return f, nil
}

// ParseSpec generates the fabric that a text "KIND:ARGS" or "KIND" specifies, for example "fattree:3,36".
func ParseSpec(spec string) (*fabric.Fabric, error) { return ParseSpecAt(spec, defaultSpeed) }

// ParseSpecAt is like [ParseSpec], with a different default speed.
func ParseSpecAt(spec string, speed fabric.Speed) (*fabric.Fabric, error) {
	kind, args, _ := strings.Cut(spec, ":")
	return generate(kind, []string{args}, speed)
}

func find(name string) (Kind, error) {
	var names []string
	for _, k := range Kinds() {
		if k.Name == name {
			return k, nil
		}
		names = append(names, k.Name)
	}
	return Kind{}, fmt.Errorf("unknown kind of fabric %q, expected one of %s", name, strings.Join(names, ", "))
}
