// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"example.org/ibconsole/fabric"
)

func randomKind() Kind {
	return Kind{
		Name:  "random",
		Usage: "random SWITCHES DEGREE HOSTS [seed=1]",
		Help: "Random connected graph without parallel links; the same seed gives the same graph. Every switch has " +
			"DEGREE links (one switch has one less if both numbers are odd), and the hosts are spread evenly.",
		form: form{params: []param{
			{name: "switches", min: 1, max: maxNumber}, {name: "degree", min: 0, max: maxNumber},
			{name: "hosts", min: 1, max: maxNumber}, {name: "seed", min: 0, max: maxNumber, optional: true, def: 1},
		}},
		build: func(n *net, a arguments) error {
			return buildRandom(n, a.value["switches"], a.value["degree"], a.value["hosts"], uint64(a.value["seed"]))
		},
	}
}

func buildRandom(n *net, switches, degree, hosts int, seed uint64) error {
	if err := checkSize(switches, hosts); err != nil {
		return err
	}
	if degree >= switches || (degree < 2 && degree != switches-1) {
		return fmt.Errorf("degree: %d is out of range, expected 2 to %d for %d switches", degree, switches-1, switches)
	}
	perSwitch := slices.Repeat([]int{hosts / switches}, switches)
	for i := range hosts % switches {
		perSwitch[i]++
	}
	digits := max(2, len(fmt.Sprint(switches)))
	name := func(i int) string { return fmt.Sprintf("sw-%0*d", digits, i+1) }
	first, err := n.addSwitches(max(perSwitch[0]+degree, 1), perSwitch, name)
	if err != nil {
		return err
	}
	g := newGraph(switches, degree)
	g.shuffle(rand.New(rand.NewPCG(seed, 0)))
	next := slices.Clone(perSwitch)
	for _, e := range g.edges {
		next[e[0]]++
		next[e[1]]++
		if err := n.link(first+e[0], next[e[0]], first+e[1], next[e[1]]); err != nil {
			return err
		}
	}
	return nil
}

// graph is a simple graph of given degrees.
type graph struct {
	edges [][2]fabric.NodeIndex
	adj   [][]fabric.NodeIndex
}

// newGraph returns a ring in which each node is linked to the nodes up to degree/2 steps away. If the argument degree
// is odd, each node is also linked to the opposite node.
func newGraph(nodes, degree int) *graph {
	g := &graph{adj: make([][]fabric.NodeIndex, nodes)}
	link := func(a, b int) {
		g.edges = append(g.edges, [2]fabric.NodeIndex{fabric.NodeIndex(a), fabric.NodeIndex(b)})
		g.adj[a] = append(g.adj[a], fabric.NodeIndex(b))
		g.adj[b] = append(g.adj[b], fabric.NodeIndex(a))
	}
	for i := range nodes {
		for step := 1; step <= degree/2; step++ {
			link(i, (i+step)%nodes)
		}
	}
	if degree%2 == 1 {
		for i := range nodes / 2 {
			link(i, i+nodes/2)
		}
	}
	return g
}

// shuffle exchanges the ends of random pairs of edges until the graph is connected. This keeps the degree of each node.
func (g *graph) shuffle(r *rand.Rand) {
	if len(g.edges) < 2 {
		return
	}
	for range 10 * len(g.edges) {
		g.exchange(r.IntN(len(g.edges)), r.IntN(len(g.edges)), r.IntN(2) == 0)
	}
	part, parts := g.parts()
	for parts > 1 {
		i, j := r.IntN(len(g.edges)), r.IntN(len(g.edges))
		e, f := g.edges[i], g.edges[j]
		if part[e[0]] == part[f[0]] || !g.exchange(i, j, false) {
			continue
		}
		newPart, newParts := g.parts()
		if newParts >= parts {
			g.replace(i, e)
			g.replace(j, f)
			continue
		}
		part, parts = newPart, newParts
	}
}

// exchange replaces the edges a-b and c-d by a-d and c-b, or by a-c and b-d if the argument flip is set. If this would
// create a double edge or a loop, it changes nothing and returns false.
func (g *graph) exchange(i, j int, flip bool) bool {
	a, b, c, d := g.edges[i][0], g.edges[i][1], g.edges[j][0], g.edges[j][1]
	if flip {
		c, d = d, c
	}
	if i == j || a == d || c == b || slices.Contains(g.adj[a], d) || slices.Contains(g.adj[c], b) {
		return false
	}
	g.replace(i, [2]fabric.NodeIndex{a, d})
	g.replace(j, [2]fabric.NodeIndex{c, b})
	return true
}

func (g *graph) replace(i int, e [2]fabric.NodeIndex) {
	old := g.edges[i]
	g.unlink(old[0], old[1])
	g.unlink(old[1], old[0])
	g.edges[i] = e
	g.adj[e[0]] = append(g.adj[e[0]], e[1])
	g.adj[e[1]] = append(g.adj[e[1]], e[0])
}

func (g *graph) unlink(from, to fabric.NodeIndex) {
	i := slices.Index(g.adj[from], to)
	g.adj[from] = slices.Delete(g.adj[from], i, i+1)
}

// parts returns the number of each node's connected component, from 0, and the number of components.
func (g *graph) parts() (part []int, parts int) {
	part = slices.Repeat([]int{-1}, len(g.adj))
	for i := range g.adj {
		if part[i] >= 0 {
			continue
		}
		part[i] = parts
		for stack := []fabric.NodeIndex{fabric.NodeIndex(i)}; len(stack) > 0; {
			v := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			for _, w := range g.adj[v] {
				if part[w] < 0 {
					part[w] = parts
					stack = append(stack, w)
				}
			}
		}
		parts++
	}
	return part, parts
}
