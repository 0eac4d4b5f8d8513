// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"fmt"
	"strings"

	"example.org/ibconsole/fabric"
)

func gridKind(name string, wrap bool) Kind {
	help := "Grid of switches in any number of dimensions. Its rows are rings; a ring of two is one link. "
	if !wrap {
		help = "Grid of switches in any number of dimensions. Its rows are not closed to rings. "
	}
	return Kind{
		Name:  name,
		Usage: name + " XxYx... [hosts=1] [links=1]",
		Help: help + "hosts is the number of hosts on each switch, links the number of parallel links. Ports: hosts, " +
			"then +x, -x, +y, -y and so on. The switch at 0,0 is sw-0-0.",
		form: form{dims: true, params: []param{
			{name: "hosts", min: 1, max: maxPorts, optional: true, def: 1},
			{name: "links", min: 1, max: maxPorts, optional: true, def: 1},
		}},
		build: func(n *net, a arguments) error {
			return grid{dims: a.dims, hosts: a.value["hosts"], links: a.value["links"], wrap: wrap}.build(n)
		},
	}
}

func hypercubeKind() Kind {
	return Kind{
		Name:  "hypercube",
		Usage: "hypercube N [hosts=1]",
		Help: "N-dimensional cube of 2^N switches with a number of hosts on each. Ports: hosts, then one per " +
			"dimension. Switch names are their coordinates in bits: sw-0110.",
		form: form{params: []param{
			{name: "dimensions", min: 0, max: maxDims},
			{name: "hosts", min: 1, max: maxPorts, optional: true, def: 1},
		}},
		build: func(n *net, a arguments) error { return buildHypercube(n, a.value["dimensions"], a.value["hosts"]) },
	}
}

// grid is a torus or a mesh.
type grid struct {
	dims         []int
	hosts, links int
	wrap         bool
}

func (g grid) build(n *net) error {
	size, ports := product(g.dims...), g.hosts+product(2, len(g.dims), g.links)
	name := func(i int) string {
		var at []string
		for _, d := range g.digits(i) {
			at = append(at, fmt.Sprint(d))
		}
		return "sw-" + strings.Join(at, "-")
	}
	first, err := n.addUniform(size, ports, g.hosts, name)
	if err != nil {
		return err
	}
	for i := range size {
		if err := g.linkToNext(n, first, i); err != nil {
			return err
		}
	}
	return nil
}

// digits returns the coordinates of a switch. The last coordinate changes fastest.
func (g grid) digits(i int) []int {
	d := make([]int, len(g.dims))
	for k := len(d) - 1; k >= 0; k-- {
		d[k], i = i%g.dims[k], i/g.dims[k]
	}
	return d
}

// linkToNext links a switch to the next switch along each dimension.
func (g grid) linkToNext(n *net, first fabric.NodeIndex, i int) error {
	stride := product(g.dims...)
	for k, at := range g.digits(i) {
		size := g.dims[k]
		stride /= size
		next := i + stride
		if at == size-1 {
			if !g.wrap || size <= 2 {
				continue
			}
			next = i - (size-1)*stride
		}
		for q := range g.links {
			plus := g.hosts + 2*k*g.links + q + 1
			if err := n.link(first+fabric.NodeIndex(i), plus, first+fabric.NodeIndex(next), plus+g.links); err != nil {
				return err
			}
		}
	}
	return nil
}

func buildHypercube(n *net, dims, hosts int) error {
	name := func(i int) string { return fmt.Sprintf("sw-%0*b", max(dims, 1), i) }
	first, err := n.addUniform(1<<dims, max(hosts+dims, 1), hosts, name)
	if err != nil {
		return err
	}
	for i := range 1 << dims {
		for d := range dims {
			if i&(1<<d) != 0 {
				continue
			}
			port := hosts + d + 1
			if err := n.link(first+fabric.NodeIndex(i), port, first+fabric.NodeIndex(i|1<<d), port); err != nil {
				return err
			}
		}
	}
	return nil
}
