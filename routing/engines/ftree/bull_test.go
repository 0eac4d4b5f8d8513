// SPDX-License-Identifier: Apache-2.0

package ftree

import (
	"testing"

	"example.org/ibconsole/routing"
)

// A set of Bull's topology (Morey-Chaisemartin, "[RFC] Fat-Tree upgrades", 2009): the Nth L1 leads to the Nth L2 only,
// L2 switches have service nodes, and an L3 connects them.
//
//	         T
//	       /   \
//	s1 - P       Q - s2
//	     |       |
//	     L       M
//	     |\     /|
//	     | \   / |       A and B are linked to both L and M
//	     A       B
//	   c1 c2   c3 c4
//
// Calculated by hand. The leaves are in the order A, B, their upper neighbours in the order L, M. The main path to c1
// is A L P T: it is the first of two unused ones. From T it covers Q, and from there M, in 6 hops. With the upgrades
// the other path from A then finds M again, in 2 hops, and Q in 3, which are shorter and stay. Before them, M keeps its
// path of 6 hops over the top, and Q, where s2 is, keeps one of 5. To c2 the main path is A M Q T, and P and L have the
// detours; to c3 it is B L P T again, and to c4 B M Q T. A switch has at most one secondary path up, so that the second
// upgrade alone changes nothing.
func bullSet(t *testing.T) (*net, routing.Options) {
	n := drawn(t, "c1 c2 c3 c4 s1 s2 A B L M P Q T",
		"c1-A c2-A c3-B c4-B s1-P s2-Q A-L A-M B-L B-M L-P M-Q P-T Q-T")
	return n, routing.Options{RootGUIDs: n.guids("T"), ComputeNodes: n.guids("c1 c2 c3 c4")}
}

func TestBullsSet(t *testing.T) {
	n, opt := bullSet(t)
	late := `
		A>c1:c1 B>c1:L L>c1:A M>c1:A P>c1:L Q>c1:M T>c1:P
		A>c2:c2 B>c2:M L>c2:A M>c2:A P>c2:L Q>c2:M T>c2:Q
		A>c3:L B>c3:c3 L>c3:B M>c3:B P>c3:L Q>c3:M T>c3:P
		A>c4:M B>c4:c4 L>c4:B M>c4:B P>c4:L Q>c4:M T>c4:Q`
	early := `
		A>c1:c1 B>c1:L L>c1:A M>c1:Q P>c1:L Q>c1:T T>c1:P
		A>c2:c2 B>c2:M L>c2:P M>c2:A P>c2:T Q>c2:M T>c2:Q
		A>c3:L B>c3:c3 L>c3:B M>c3:Q P>c3:L Q>c3:T T>c3:P
		A>c4:M B>c4:c4 L>c4:P M>c4:B P>c4:T Q>c4:M T>c4:Q`
	n.checkUpgrades(opt, late, late, early, early)
}

// checkUpgrades compares tables with both of Bull's upgrades, with the first only, the second only, and none.
func (n *net) checkUpgrades(opt routing.Options, both, first, second, none string) {
	n.t.Helper()
	n.check("with both upgrades", routed(n.t, n.f, opt).Tables, both)
	opt.NoBullSecondary = true
	n.check("with the first", routed(n.t, n.f, opt).Tables, first)
	opt.NoBullMinHop = true
	n.check("before them", routed(n.t, n.f, opt).Tables, none)
	opt.NoBullSecondary = false
	n.check("with the second", routed(n.t, n.f, opt).Tables, second)
}

// Leaf A is linked to all four spines, B only to S and U. Calculated by hand: the main paths to c1 to c4 go by S, T, U
// and V in turn, as these are unused. T and V do not reach B. To c2, T is the main path and the others follow by use: U
// and V, then S, which c1 has used; so B goes by U. Before the upgrades they follow in their own order, S first. To c4,
// all others have been used once, and S is first. All paths have the same length, so that the first upgrade alone
// changes nothing.
func TestSecondaryPathsByLoad(t *testing.T) {
	n := drawn(t, "c1 c2 c3 c4 c5 A B S T U V", "c1-A c2-A c3-A c4-A c5-B A-S A-T A-U A-V B-S B-U")
	opt := routing.Options{RootGUIDs: n.guids("S T U V")}
	late, early := "B>c1:S B>c2:U B>c3:U B>c4:S", "B>c1:S B>c2:S B>c3:U B>c4:S"
	n.checkUpgrades(opt, late, early, late, early)
}
