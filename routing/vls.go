// SPDX-License-Identifier: Apache-2.0

package routing

import "example.org/ibconsole/fabric"

// MostDataVLs is the maximum number of data VLs of a port (IBA 1.2.1, 3.5.7).
const MostDataVLs = 15

// allVLs is the value of OperationalVLs for VL0 to VL14 (IBA 1.2.1, 14.2.5.6).
const allVLs = 5

// DataVLs returns the number of data VLs that all linked ports of all switches of the subnet operate, limited by
// MaxOpVLs. The result known is false if no port reports its number. O(ports).
func DataVLs(f *fabric.Fabric, opt *Options) (vls int, known bool) {
	least := uint8(allVLs)
	if opt.MaxOpVLs > 0 {
		least = min(least, opt.MaxOpVLs)
	}
	for s := range f.NumSwitches() {
		n := f.SwitchNode(s)
		if !n.InSubnet {
			continue
		}
		for i := range n.Ports() {
			if p := &f.Ports[i]; p.Linked() && p.OperVLs > 0 {
				least, known = min(least, p.OperVLs), true
			}
		}
	}
	return min(1<<(least-1), MostDataVLs), known
}

// VLPerSL maps SLs to VLs as OpenSM does if quality of service is on and qos_sl2vl is not set. It maps SL n to VL n
// modulo the number of VLs. With 15 VLs the mapping is unchanged (osm_qos.c, sl2vl_update_table). O(switches x
// ports^2).
func VLPerSL(f *fabric.Fabric, dataVLs int) *fabric.SL2VL {
	mask := uint8(0xf)
	if dataVLs < MostDataVLs {
		mask = uint8(dataVLs - 1)
	}
	var vls fabric.VLs
	for sl := range vls {
		vls[sl] = uint8(sl) & mask
	}
	vls[15] = 7 & mask // 15 is no data VL
	t := fabric.NewSL2VL(f)
	t.SetAll(vls)
	return t
}
