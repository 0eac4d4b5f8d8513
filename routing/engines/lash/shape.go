// SPDX-License-Identifier: Apache-2.0

package lash

import "slices"

// A switch of a mesh is recognised by the distances between its neighbours on paths that avoid the switch. These
// distances form a matrix. The characteristic polynomials of matrices are compared, because they do not depend on the
// order of neighbours.

// mostLinks is the maximum number of neighbours of a switch in a mesh.
const mostLinks = 8

// polynomial holds the coefficients of det(M - xI) without the highest one, lowest first, modulo 2^32 like OpenSM's
// integers.
type polynomial [mostLinks]int32

// characteristic computes the characteristic polynomial of a matrix without divisions (Berkowitz, "On computing the
// determinant in small parallel time using a small number of processors", IPL 18, 1984). O(n^4).
func characteristic(m [][]int32) polynomial {
	n := len(m)
	v := []int32{1} // det(xI - M) of the rows and columns from i on, highest first
	for i := n - 1; i >= 0; i-- {
		rest := n - i - 1
		// column is the first column of the Toeplitz matrix: 1, -a, -rc, -rAc, -rAAc, ...
		column := []int32{1, -m[i][i]}
		c := make([]int32, rest)
		for k := range c {
			c[k] = m[i+1+k][i]
		}
		for range rest {
			column = append(column, -dot(m[i][i+1:], c))
			next := make([]int32, rest)
			for k := range next {
				next[k] = dot(m[i+1+k][i+1:], c)
			}
			c = next
		}
		w := make([]int32, len(v)+1)
		for r := range w {
			for k, x := range v {
				if r >= k {
					w[r] += column[r-k] * x
				}
			}
		}
		v = w
	}
	var p polynomial
	for k := range n {
		if p[k] = v[n-k]; n%2 == 1 {
			p[k] = -p[k]
		}
	}
	return p
}

func dot(a, b []int32) (sum int32) {
	for i, x := range b {
		sum += a[i] * x
	}
	return sum
}

// shape identifies a kind of switch.
type shape struct {
	links int
	polynomial
}

// around is indexed by the size of a ring. It is the distance between the two neighbours of a switch around the ring,
// avoiding the switch. Size 6 stands for all rings of 6 and more, where the shortest path uses other dimensions. A ring
// of 4 cannot be distinguished from two rings of 2.
var around = map[int]int32{2: 0, 3: 1, 5: 3, 6: 4}

// apart is the distance between neighbours of a switch in different dimensions.
const apart = 2

// shapes returns the number of dimensions of each known torus, indexed by the shape of its switches. The tori have at
// most 8 dimensions and 8 links.
func shapes() map[shape]int {
	known := map[shape]int{}
	for d := 1; d <= mostLinks; d++ {
		sizes := slices.Repeat([]int{2}, d)
		for {
			if m := torusMatrix(sizes); len(m) <= mostLinks && !missing(sizes) {
				if s := (shape{len(m), characteristic(m)}); known[s] == 0 {
					known[s] = d
				}
			}
			i := slices.IndexFunc(sizes, func(size int) bool { return size != 6 })
			if i < 0 {
				break
			}
			sizes[i] = map[int]int{2: 3, 3: 5, 5: 6}[sizes[i]]
			for k := range i {
				sizes[k] = sizes[i]
			}
		}
	}
	// OpenSM also knows a faulty shape for a 6 x 6 torus. In one dimension it knows a ring of 8 instead of 6.
	known[shape{4, polynomial{-192, -256, -80}}] = 2
	delete(known, shape{2, polynomial{-16}})
	known[shape{2, polynomial{-36}}] = 1
	return known
}

// missing reports whether OpenSM does not know a torus: one of four dimensions that all have size 5 or more.
func missing(sizes []int) bool { return len(sizes) == 4 && slices.Min(sizes) >= 5 }

// torusMatrix returns the matrix of distances between the neighbours of a switch in a torus.
func torusMatrix(sizes []int) [][]int32 {
	var dims []int // by link
	for d, size := range sizes {
		dims = append(dims, d)
		if size > 2 {
			dims = append(dims, d)
		}
	}
	m := make([][]int32, len(dims))
	for i := range m {
		m[i] = make([]int32, len(dims))
		for j := range m[i] {
			switch {
			case i == j:
			case dims[i] == dims[j]:
				m[i][j] = around[sizes[dims[i]]]
			default:
				m[i][j] = apart
			}
		}
	}
	return m
}
