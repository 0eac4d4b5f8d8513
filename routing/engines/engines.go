// SPDX-License-Identifier: Apache-2.0

// Package engines lists the routing engines, and tries the engines of a chain.
package engines

import (
	"fmt"
	"strings"

	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/engines/ftree"
	"example.org/ibconsole/routing/engines/lash"
	"example.org/ibconsole/routing/engines/minhop"
	"example.org/ibconsole/routing/engines/nue"
	"example.org/ibconsole/routing/engines/sssp"
	"example.org/ibconsole/routing/engines/torus"
	"example.org/ibconsole/routing/engines/updn"
)

// Default is OpenSM's default engine. OpenSM also uses it if all configured engines refuse.
const Default = "minhop"

// All returns every engine. The default engine comes first.
func All() []routing.Engine {
	return []routing.Engine{minhop.Engine{}, updn.Engine{}, updn.DnUp{}, minhop.DOR{}, ftree.Engine{}, lash.Engine{},
		sssp.Engine{}, sssp.DeadlockFree{}, nue.Engine{}, torus.Engine{}}
}

// Names returns the engines' names.
func Names() []string {
	var names []string
	for _, e := range All() {
		names = append(names, e.Name())
	}
	return names
}

// ByName returns the engine with a name. It searches the engines in the argument more, then [All].
func ByName(name string, more ...routing.Engine) (routing.Engine, error) {
	for _, e := range append(more, All()...) {
		if e.Name() == name {
			return e, nil
		}
	}
	return nil, fmt.Errorf("unknown engine %q, expected %s", name, strings.Join(Names(), ", "))
}
