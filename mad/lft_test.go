// SPDX-License-Identifier: Apache-2.0

package mad

import "testing"

func TestLinearForwardingTable(t *testing.T) {
	// What ibsim 0.10 answers to ibroute -D 0,1 after OpenSM 3.3.23 ran.
	b := golden(t, `ff0100030405`)
	for i := 6; i < len(b); i++ {
		b[i] = 0xff
	}
	var want LinearForwardingTable
	for lid := range want {
		want[lid] = NoPort
	}
	want[1], want[2], want[3], want[4], want[5] = 1, 0, 3, 4, 5
	checkAttribute(t, b, want)
}

func FuzzLinearForwardingTable(f *testing.F) { fuzzAttribute[LinearForwardingTable](f) }
