// SPDX-License-Identifier: Apache-2.0

package session

import (
	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/osm"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/routing/paths"
	"example.org/ibconsole/shell/session/partitions"
)

// Grants are those of a picture. It fails where somebody must be a member of a partition of
// which nobody said anything.
func (st *State) Grants(p *Picture, a partitions.Asked) (*partitions.Grants, error) {
	keys, sls := st.partitionsOf(p.Fabric)
	return partitions.New(p.Tables, keys, sls, a)
}

// partitionsOf are the P_Keys of end ports, as they were read or else as the settings have
// them, and the SLs of partitions that the settings have; nil where nobody said any.
func (st *State) partitionsOf(f *fabric.Fabric) (keys map[fabric.PortIndex][]mad.PKey, sls map[uint16]uint8) {
	if st.PKeys != nil {
		keys = st.pKeysOf(f)
	}
	if !st.Settings.HasPartitions() {
		return keys, nil
	}
	all := st.Settings.Partitions(f)
	if keys == nil {
		keys = osm.PKeys(f, all)
	}
	sls = map[uint16]uint8{}
	for i := range all {
		sls[all[i].Number] = all[i].SL
	}
	return keys, sls
}

// partitioned is [partitions.Apply] with the partitions of the state.
func (st *State) partitioned(t *fabric.Tables, all bool) *fabric.Tables {
	keys, sls := st.partitionsOf(t.Fabric)
	return partitions.Apply(t, keys, sls, all)
}

// PartitionOptions gives a path database what is known of partitions.
func (st *State) PartitionOptions(f *fabric.Fabric, opt *paths.Options) {
	opt.PKeys, opt.PartitionSLs = st.partitionsOf(f)
}

// pKeysOf are the P_Keys that were read, by the end ports of a fabric.
func (rd *Reading) pKeysOf(f *fabric.Fabric) map[fabric.PortIndex][]mad.PKey {
	out := make(map[fabric.PortIndex][]mad.PKey, len(rd.PKeys))
	for _, p := range f.EndPorts {
		if k := rd.PKeys[f.Ports[p].GUID]; k != nil {
			out[p] = k
		}
	}
	return out
}
