// SPDX-License-Identifier: Apache-2.0

package settings

import "example.org/ibconsole/fabric/formats/osm"

// flag is a flag of OpenSM's command line (see opensm(8) and opensm --help).
type flag struct {
	short byte // 0 for none
	long  string
	takes bool // a value follows
	// option is the option with the same meaning, or "" if there is none. If the flag has no value, the option is TRUE.
	option string
	// The field why is the reason for refusing the flag, or "". The field note is a remark about the flag. A flag with
	// neither why, note nor option has no effect on routes.
	why, note string
}

// Special values of the field option, in addition to names in [Options].
const (
	chainFlag = "engine"
	confFlag  = "from"
)

const (
	endsOpenSM  = "it makes OpenSM end without routing"
	notModelled = "is not modelled"
)

var flags = []flag{
	{short: 'R', long: "routing_engine", takes: true, option: chainFlag},
	{short: 'F', long: "config", takes: true, option: confFlag},
	{short: 'l', long: "lmc", takes: true, option: "lmc"},
	{short: 'r', long: "reassign_lids", option: "reassign_lids"},
	{short: 'x', long: "honor_guid2lid", option: "honor_guid2lid_file"},
	{short: 'a', long: "root_guid_file", takes: true, option: osm.RootGUIDs.Option()},
	{short: 'u', long: "cn_guid_file", takes: true, option: osm.ComputeNodes.Option()},
	{short: 'G', long: "io_guid_file", takes: true, option: osm.IONodes.Option()},
	{short: 'H', long: "max_reverse_hops", takes: true, option: "max_reverse_hops"},
	{short: 'm', long: "ids_guid_file", takes: true, option: osm.SwitchIDs.Option()},
	{short: 'z', long: "connect_roots", option: "connect_roots"},
	{short: 'X', long: "guid_routing_order_file", takes: true, option: osm.RoutingOrder.Option()},
	{long: "guid_routing_order_no_scatter", option: "guid_routing_order_no_scatter"},
	{short: 'i', long: "ignore_guids", takes: true, option: osm.IgnoredPorts.Option()},
	{long: "port-shifting", option: "port_shifting"},
	{long: "scatter-ports", takes: true, option: "scatter_ports"},
	{short: 'w', long: "hop_weights_file", takes: true, option: osm.HopWeights.Option()},
	{short: 'O', long: "port_search_ordering_file", takes: true, option: osm.SearchOrder.Option()},
	{long: "dimn_ports_file", takes: true, option: osm.SearchOrder.Option()},
	{short: 'A', long: "ucast_cache", option: "use_ucast_cache"},
	{short: 'M', long: "lid_matrix_file", takes: true, option: "lid_matrix_dump_file"},
	{short: 'U', long: "lfts_file", takes: true, option: "lfts_file"},
	{long: "do_mesh_analysis", option: "do_mesh_analysis"},
	{long: "lash_start_vl", takes: true, option: "lash_start_vl"},
	{long: "nue_max_num_vls", takes: true, option: "nue_max_num_vls"},
	{long: torusConfig, takes: true, option: torusConfig},
	{short: 'Q', long: "qos", option: "qos"},
	{short: 'P', long: "Pconfig", takes: true, option: partitionFile},

	{short: 'Y', long: policyFile, takes: true, option: policyFile},
	{short: 'S', long: "sadb_file", takes: true, note: "is not read: load groups takes multicast groups"},
	{long: "consolidate_ipv6_snm_req", note: notModelled},
	{short: 'd', long: "debug", takes: true, note: "is ignored, also if it turns multicast off"},
	{short: 'I', long: "inactive", note: "is ignored: an inactive OpenSM routes nothing"},

	{long: "version", why: endsOpenSM},
	{short: 'h', long: "help", why: endsOpenSM},
	{short: '?', why: endsOpenSM},
	{short: 'c', long: "create-config", takes: true, why: endsOpenSM},

	{short: 'g', long: "guid", takes: true},
	{short: 'p', long: "priority", takes: true},
	{long: "subnet_prefix", takes: true},
	{short: 'k', long: "smkey", takes: true},
	{long: "sm_sl", takes: true},
	{short: 'o', long: "once"},
	{short: 's', long: "sweep", takes: true},
	{short: 't', long: "timeout", takes: true},
	{long: "retries", takes: true},
	{short: 'n', long: "maxsmps", takes: true},
	{short: 'q', long: "console", takes: true},
	{short: 'C', long: "console-port", takes: true},
	{long: "dump_files_dir", takes: true},
	{short: 'f', long: "log_file", takes: true},
	{short: 'L', long: "log_limit", takes: true},
	{short: 'e', long: "erase_log_file"},
	{short: 'N', long: "no_part_enforce"},
	{short: 'Z', long: "part_enforce", takes: true},
	{short: 'W', long: "allow_both_pkeys"},
	{long: "congestion_control"},
	{long: "cc_key", takes: true},
	{short: 'y', long: "stay_on_fatal"},
	{short: 'B', long: "daemon"},
	{long: "perfmgr"},
	{long: "perfmgr_sweep_time_s", takes: true},
	{long: "prefix_routes_file", takes: true},
	{long: "log_prefix", takes: true},
	{short: 'v', long: "verbose"},
	{short: 'V', long: "V"},
	{short: 'D', long: "D", takes: true},
}
