// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"fmt"
	"strings"

	"example.org/ibconsole/fabric"
)

// Kind is one shape of fabric that [Parse] knows.
type Kind struct {
	Name  string
	Usage string // the arguments: "torus XxYx... [hosts=1] [links=1]"
	Help  string // what the shape is, in a sentence or two

	form  form
	build func(*net, arguments) error
}

// Params returns the names of the arguments of the kind's own that may be given by name; [Common] are those of all
// kinds.
func (k Kind) Params() []string {
	var names []string
	for _, p := range k.form.params {
		names = append(names, p.name)
	}
	return names
}

// Kinds returns all shapes, in the order in which help lists them.
func Kinds() []Kind {
	return []Kind{
		fatTreeKind(), xgftKind(), gridKind("torus", true), gridKind("mesh", false),
		hypercubeKind(), dragonflyKind(), bullKind(), randomKind(),
		railTreeKind(), multiPlaneKind(), directorKind(), dfPlusKind(),
	}
}

// Parse makes a fabric of a kind. Arguments may come one by one or joined by commas ("3", "36" or "3,36"), by
// position or by name ("ports=36"). Every kind takes the options of [Common]; links are SDR where no
// speed is given. It fails on an unknown kind or argument, where a switch would need more
// than 254 ports, and where the ports would need more LIDs than there are. O(ports log ports).
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
		err = n.addAggregation(n.switchNodes, n.switchPorts)
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

// ParseSpec makes a fabric of "KIND:ARGS" or "KIND", as in "fattree:3,36".
func ParseSpec(spec string) (*fabric.Fabric, error) { return ParseSpecAt(spec, defaultSpeed) }

// ParseSpecAt is ParseSpec with links of another speed where the arguments name none.
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
