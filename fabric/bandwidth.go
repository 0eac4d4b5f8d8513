// SPDX-License-Identifier: Apache-2.0

package fabric

// laneGbps is the signalling rate of a lane as the rates of IBA 1.2.1 and its supplements count it, in Gb/s.
var laneGbps = [...]float64{SDR: 2.5, DDR: 5, QDR: 10, FDR10: 10, FDR: 14, EDR: 25, HDR: 50, NDR: 100, XDR: 200}

// Gbps is the rate of a port's link in Gb/s, 0 where it is not known.
func (p *Port) Gbps() float64 {
	if int(p.Speed) >= len(laneGbps) {
		return 0
	}
	return float64(p.Width) * laneGbps[p.Speed]
}
