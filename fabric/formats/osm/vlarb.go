// SPDX-License-Identifier: Apache-2.0

package osm

// VL arbitration tables that OpenSM uses without an option (osm_base.h), as the options qos_vlarb_high and
// qos_vlarb_low have them.
const (
	DefaultVLArbHigh = "0:4,1:0,2:0,3:0,4:0,5:0,6:0,7:0,8:0,9:0,10:0,11:0,12:0,13:0,14:0"
	DefaultVLArbLow  = "0:0,1:4,2:4,3:4,4:4,5:4,6:4,7:4,8:4,9:4,10:4,11:4,12:4,13:4,14:4"
)

// mostVLArbNumbers is how many numbers of a VL arbitration table torus-2QoS adds up: those of 32 entries.
const mostVLArbNumbers = 64

// VLArbWeights returns the total weight of each VL in the text of a VL arbitration table, "VL:WEIGHT,...", as
// torus-2QoS adds them up (osm_torus.c, sum_vlarb_weights): it takes alternate numbers for VLs and weights, whatever
// separates them, and their lower 4 and 8 bits.
func VLArbWeights(text string) (total [16]uint64) {
	vl := uint64(0)
	for i := 0; text != "" && i < mostVLArbNumbers; i++ {
		n, rest, _ := cUnsigned(text)
		if rest != "" {
			rest = rest[1:]
		}
		if text = rest; i%2 == 0 {
			vl = n & 0xf
		} else {
			total[vl] += n & 0xff
		}
	}
	return total
}
