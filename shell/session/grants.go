// SPDX-License-Identifier: Apache-2.0

package session

import (
	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/shell/session/partitions"
)

// Grants returns the path records that the subnet administration grants for a state. It returns an error if this
// depends on the members of an unknown partition.
func (st *State) Grants(p *Picture, a partitions.Asked) (*partitions.Grants, error) {
	return partitions.New(p.Tables, st.knownOf(p.Fabric), a)
}

// knownOf returns what the settings and the subnet determine of the SLs of paths. Like OpenSM it does without a policy
// that does not fit the subnet.
func (st *State) knownOf(f *fabric.Fabric) (k partitions.Known) {
	k.Keys, k.SLs = st.PartitionsOf(f)
	k.Policy, _ = st.Settings.Policy(f)
	return k
}

// PartitionsOf returns the P_Keys of end ports: those that were read, or else those of the settings. It also returns
// the SLs of partitions from the settings. Both are nil if unknown.
func (st *State) PartitionsOf(f *fabric.Fabric) (keys map[fabric.PortIndex][]mad.PKey, sls map[uint16]uint8) {
	if st.PKeys != nil {
		keys = st.pKeysOf(f)
	}
	if !st.Settings.HasPartitions() {
		return keys, nil
	}
	all := st.Settings.Partitions(f)
	if keys == nil {
		keys = st.Settings.PKeys(f)
	}
	sls = map[uint16]uint8{}
	for i := range all {
		sls[all[i].Number] = all[i].SL
	}
	return keys, sls
}

// partitioned returns tables with the partitions of the state; see [partitions.Apply].
func (st *State) partitioned(t *fabric.Tables, all bool) *fabric.Tables {
	return partitions.Apply(t, st.knownOf(t.Fabric), all)
}

// PathTables returns tables for a database of path records, which knows no policy: with the SLs that the policy grants.
func (st *State) PathTables(t *fabric.Tables) *fabric.Tables {
	return partitions.ByPolicy(t, st.knownOf(t.Fabric))
}

// pKeysOf returns the P_Keys that were read, indexed by the end ports of the fabric f.
func (rd *Reading) pKeysOf(f *fabric.Fabric) map[fabric.PortIndex][]mad.PKey {
	out := make(map[fabric.PortIndex][]mad.PKey, len(rd.PKeys))
	for _, p := range f.EndPorts {
		if k := rd.PKeys[f.Ports[p].GUID]; k != nil {
			out[p] = k
		}
	}
	return out
}
