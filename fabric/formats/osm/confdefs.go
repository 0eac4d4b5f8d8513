// SPDX-License-Identifier: Apache-2.0

package osm

import (
	"fmt"
	"strconv"
	"strings"
)

// ConfDef is an option that OpenSM knows.
type ConfDef struct {
	Name string
	Type ConfType
	// Default is written as in [ConfOption]; "" is none.
	Default string
	Affects Affects
	// For names the option whose other name this is, if it is one.
	For string
}

// Affects says what an option changes.
type Affects uint8

// What options can change. Routes are the forwarding tables; SLs the service
// levels and virtual lanes; links their speed, width and lanes.
const (
	AffectsLIDs Affects = 1 << iota
	AffectsRoutes
	AffectsSLs
	AffectsMulticast
	AffectsLinks
)

// ConfType is the form of an option's value.
type ConfType uint8

// The forms that OpenSM reads (osm_subnet.c, opts_parse_*).
const (
	ConfString ConfType = iota
	ConfBool
	ConfUint8
	ConfUint16
	ConfUint32
	ConfUint64
	ConfInt32
	ConfMask  // up to 64 hexadecimal digits
	ConfPerSL // a service level and a number; read as text
	ConfText  // of congestion control; read as text
)

var confTypeNames = [...]string{
	"string", "TRUE or FALSE", "number of 0 to 255", "number of 0 to 65535", "number of 0 to 4294967295",
	"number of 64 bits", "number", "hexadecimal number of 256 bits", "service level and number", "text",
}

func (t ConfType) String() string { return confTypeNames[t] }

// confKeep is the value that parse returns where OpenSM passes over a line.
const confKeep = "\x00"

// parse reads a value as OpenSM does. It returns confKeep where OpenSM passes over
// the line, and says in why where the value is not what it seems.
func (t ConfType) parse(s string) (value, why string) {
	switch t {
	case ConfBool:
		if s == "TRUE" || s == "FALSE" {
			return s, ""
		}
		return "FALSE", fmt.Sprintf("%q is neither TRUE nor FALSE; OpenSM takes FALSE", shorten([]byte(s)))
	case ConfUint8, ConfUint16, ConfUint32, ConfUint64:
		v, rest, over := cUnsigned(s)
		if s == "" || rest != "" || over || v > confMax[t] {
			return confKeep, ""
		}
		if t == ConfUint64 {
			return fmt.Sprintf("0x%016x", v), ""
		}
		return strconv.FormatUint(v, 10), ""
	case ConfInt32:
		v, rest := cSigned(s)
		value = strconv.FormatInt(int64(int32(v)), 10)
		if s == "" || rest != "" || v != int64(int32(v)) {
			why = fmt.Sprintf("%q is no number of 32 bits; OpenSM takes %s", shorten([]byte(s)), value)
		}
		return value, why
	case ConfMask:
		return parseMask(s)
	}
	if s == "(null)" {
		return "", ""
	}
	return s, ""
}

var confMax = map[ConfType]uint64{ConfUint8: 1<<8 - 1, ConfUint16: 1<<16 - 1, ConfUint32: 1<<32 - 1, ConfUint64: 1<<64 - 1}

// maskDigits is the length of a mask for the ports of a switch.
const maskDigits = 64

// parseMask reads the first digits of a number of 256 bits.
func parseMask(s string) (value, why string) {
	digits := s
	if len(s) > 1 && s[0] == '0' && s[1]|0x20 == 'x' {
		digits = s[2:]
	}
	if digits == "" || strings.ContainsFunc(digits, func(r rune) bool { return r > 0x7f || hexDigit(byte(r)) > 15 }) {
		return confKeep, ""
	}
	if len(digits) > maskDigits {
		digits = digits[:maskDigits]
		why = fmt.Sprintf("%q is of more than 256 bits; OpenSM takes the first", shorten([]byte(s)))
	}
	return "0x" + strings.Repeat("0", maskDigits-len(digits)) + strings.ToUpper(digits), why
}

// FindConfDef returns the option of this name, if OpenSM has one.
func FindConfDef(name string) (ConfDef, bool) {
	i, ok := confIndex[name]
	if !ok {
		return ConfDef{}, false
	}
	return confDefs[i], true
}

var confIndex = func() map[string]int {
	index := make(map[string]int, len(confDefs))
	for i, d := range confDefs {
		index[d.Name] = i
	}
	return index
}()

// confDefs are the options with their defaults (osm_subnet.c, opt_tbl and
// osm_subn_set_default_opt, as Debian builds them).
var confDefs = []ConfDef{
	{"guid", ConfUint64, "0x0000000000000000", AffectsLIDs | AffectsRoutes, ""},
	{"m_key", ConfUint64, "0x0000000000000000", 0, ""},
	{"sm_key", ConfUint64, "0x0000000000000001", 0, ""},
	{"sa_key", ConfUint64, "0x0000000000000001", 0, ""},
	{"subnet_prefix", ConfUint64, "0xfe80000000000000", 0, ""},
	{"m_key_lease_period", ConfUint16, "0", 0, ""},
	{"m_key_protection_level", ConfUint8, "0", 0, ""},
	{"m_key_lookup", ConfBool, "TRUE", 0, ""},
	{"sweep_interval", ConfUint32, "10", 0, ""},
	{"max_wire_smps", ConfUint32, "4", 0, ""},
	{"max_wire_smps2", ConfUint32, "4", 0, ""},
	{"max_smps_timeout", ConfUint32, "600000", 0, ""},
	{"console", ConfString, "off", 0, ""},
	{"console_port", ConfUint16, "10000", 0, ""},
	{"transaction_timeout", ConfUint32, "200", 0, ""},
	{"transaction_retries", ConfUint32, "3", 0, ""},
	{"long_transaction_timeout", ConfUint32, "500", 0, ""},
	{"max_msg_fifo_timeout", ConfUint32, "10000", 0, ""},
	{"sm_priority", ConfUint8, "0", 0, ""},
	{"lmc", ConfUint8, "0", AffectsLIDs | AffectsRoutes, ""},
	{"lmc_esp0", ConfBool, "FALSE", AffectsLIDs | AffectsRoutes, ""},
	{"max_op_vls", ConfUint8, "5", AffectsRoutes | AffectsSLs | AffectsLinks, ""},
	{"force_link_speed", ConfUint8, "15", AffectsLinks, ""},
	{"force_link_speed_ext", ConfUint8, "31", AffectsLinks, ""},
	{"force_link_width", ConfUint8, "255", AffectsLinks, ""},
	{"fdr10", ConfUint8, "1", AffectsLinks, ""},
	{"reassign_lids", ConfBool, "FALSE", AffectsLIDs, ""},
	{"ignore_other_sm", ConfBool, "FALSE", 0, ""},
	{"single_thread", ConfBool, "FALSE", 0, ""},
	{"disable_multicast", ConfBool, "FALSE", AffectsMulticast, ""},
	{"subnet_timeout", ConfUint8, "18", 0, ""},
	{"packet_life_time", ConfUint8, "18", 0, ""},
	{"vl_stall_count", ConfUint8, "7", 0, ""},
	{"leaf_vl_stall_count", ConfUint8, "7", 0, ""},
	{"head_of_queue_lifetime", ConfUint8, "18", 0, ""},
	{"leaf_head_of_queue_lifetime", ConfUint8, "16", 0, ""},
	{"local_phy_errors_threshold", ConfUint8, "8", 0, ""},
	{"overrun_errors_threshold", ConfUint8, "8", 0, ""},
	{"use_mfttop", ConfBool, "TRUE", AffectsMulticast, ""},
	{"sminfo_polling_timeout", ConfUint32, "10000", 0, ""},
	{"polling_retry_number", ConfUint32, "4", 0, ""},
	{"force_heavy_sweep", ConfBool, "FALSE", 0, ""},
	{"port_prof_ignore_file", ConfString, "", AffectsRoutes, ""},
	{"hop_weights_file", ConfString, "", AffectsRoutes, ""},
	{"dimn_ports_file", ConfString, "", AffectsRoutes, "port_search_ordering_file"},
	{"port_search_ordering_file", ConfString, "", AffectsRoutes, ""},
	{"port_profile_switch_nodes", ConfBool, "FALSE", AffectsRoutes, ""},
	{"sweep_on_trap", ConfBool, "TRUE", 0, ""},
	{"routing_engine", ConfString, "", AffectsRoutes, ""},
	{"avoid_throttled_links", ConfBool, "FALSE", AffectsRoutes, ""},
	{"connect_roots", ConfBool, "FALSE", AffectsRoutes, ""},
	{"use_ucast_cache", ConfBool, "FALSE", AffectsRoutes, ""},
	{"log_file", ConfString, "/var/log/opensm.log", 0, ""},
	{"log_max_size", ConfUint32, "0", 0, ""},
	{"log_flags", ConfUint8, "3", 0, ""},
	{"force_log_flush", ConfBool, "FALSE", 0, ""},
	{"accum_log_file", ConfBool, "TRUE", 0, ""},
	{"partition_config_file", ConfString, "/etc/opensm/partitions.conf", 0, ""},
	{"no_partition_enforcement", ConfBool, "FALSE", 0, ""},
	{"part_enforce", ConfString, "both", 0, ""},
	{"allow_both_pkeys", ConfBool, "FALSE", 0, ""},
	{"keep_pkey_indexes", ConfBool, "TRUE", 0, ""},
	{"sm_assigned_guid", ConfUint8, "0", 0, ""},
	{"qos", ConfBool, "FALSE", AffectsRoutes | AffectsSLs, ""},
	{"qos_policy_file", ConfString, "/etc/opensm/qos-policy.conf", AffectsSLs, ""},
	{"suppress_sl2vl_mad_status_errors", ConfBool, "FALSE", 0, ""},
	{"dump_files_dir", ConfString, "/var/log/", 0, ""},
	{"lid_matrix_dump_file", ConfString, "", AffectsRoutes, ""},
	{"lfts_file", ConfString, "", AffectsRoutes, ""},
	{"root_guid_file", ConfString, "", AffectsRoutes, ""},
	{"cn_guid_file", ConfString, "", AffectsRoutes, ""},
	{"io_guid_file", ConfString, "", AffectsRoutes, ""},
	{"port_shifting", ConfBool, "FALSE", AffectsRoutes, ""},
	{"scatter_ports", ConfUint32, "0", AffectsRoutes, ""},
	{"max_reverse_hops", ConfUint16, "0", AffectsRoutes, ""},
	{"ids_guid_file", ConfString, "", AffectsRoutes, ""},
	{"guid_routing_order_file", ConfString, "", AffectsRoutes, ""},
	{"guid_routing_order_no_scatter", ConfBool, "FALSE", AffectsRoutes, ""},
	{"sa_db_file", ConfString, "", AffectsMulticast, ""},
	{"sa_db_dump", ConfBool, "FALSE", 0, ""},
	{"torus_config", ConfString, "/etc/opensm/torus-2QoS.conf", AffectsRoutes | AffectsSLs, ""},
	{"do_mesh_analysis", ConfBool, "FALSE", AffectsRoutes, ""},
	{"exit_on_fatal", ConfBool, "TRUE", AffectsLIDs, ""},
	{"honor_guid2lid_file", ConfBool, "FALSE", AffectsLIDs, ""},
	{"daemon", ConfBool, "FALSE", 0, ""},
	{"sm_inactive", ConfBool, "FALSE", 0, ""},
	{"babbling_port_policy", ConfBool, "FALSE", 0, ""},
	{"drop_event_subscriptions", ConfBool, "FALSE", 0, ""},
	{"ipoib_mcgroup_creation_validation", ConfBool, "TRUE", AffectsMulticast, ""},
	{"mcgroup_join_validation", ConfBool, "TRUE", AffectsMulticast, ""},
	{"use_original_extended_sa_rates_only", ConfBool, "FALSE", 0, ""},
	{"use_optimized_slvl", ConfBool, "FALSE", AffectsSLs, ""},
	{"fsync_high_avail_files", ConfBool, "TRUE", 0, ""},
	{"perfmgr", ConfBool, "FALSE", 0, ""},
	{"perfmgr_redir", ConfBool, "TRUE", 0, ""},
	{"perfmgr_sweep_time_s", ConfUint16, "180", 0, ""},
	{"perfmgr_max_outstanding_queries", ConfUint32, "500", 0, ""},
	{"perfmgr_ignore_cas", ConfBool, "FALSE", 0, ""},
	{"event_db_dump_file", ConfString, "", 0, ""},
	{"perfmgr_rm_nodes", ConfBool, "TRUE", 0, ""},
	{"perfmgr_log_errors", ConfBool, "TRUE", 0, ""},
	{"perfmgr_query_cpi", ConfBool, "TRUE", 0, ""},
	{"perfmgr_xmit_wait_log", ConfBool, "FALSE", 0, ""},
	{"perfmgr_xmit_wait_threshold", ConfUint32, "65535", 0, ""},
	{"event_plugin_name", ConfString, "", 0, ""},
	{"event_plugin_options", ConfString, "", 0, ""},
	{"node_name_map_name", ConfString, "", 0, ""},
	{"qos_max_vls", ConfUint32, "0", AffectsSLs, ""},
	{"qos_high_limit", ConfInt32, "-1", 0, ""},
	{"qos_vlarb_high", ConfString, "", 0, ""},
	{"qos_vlarb_low", ConfString, "", 0, ""},
	{"qos_sl2vl", ConfString, "", AffectsSLs, ""},
	{"qos_ca_max_vls", ConfUint32, "0", AffectsSLs, ""},
	{"qos_ca_high_limit", ConfInt32, "-1", 0, ""},
	{"qos_ca_vlarb_high", ConfString, "", 0, ""},
	{"qos_ca_vlarb_low", ConfString, "", 0, ""},
	{"qos_ca_sl2vl", ConfString, "", AffectsSLs, ""},
	{"qos_sw0_max_vls", ConfUint32, "0", AffectsSLs, ""},
	{"qos_sw0_high_limit", ConfInt32, "-1", 0, ""},
	{"qos_sw0_vlarb_high", ConfString, "", 0, ""},
	{"qos_sw0_vlarb_low", ConfString, "", 0, ""},
	{"qos_sw0_sl2vl", ConfString, "", AffectsSLs, ""},
	{"qos_swe_max_vls", ConfUint32, "0", AffectsSLs, ""},
	{"qos_swe_high_limit", ConfInt32, "-1", 0, ""},
	{"qos_swe_vlarb_high", ConfString, "", 0, ""},
	{"qos_swe_vlarb_low", ConfString, "", 0, ""},
	{"qos_swe_sl2vl", ConfString, "", AffectsSLs, ""},
	{"qos_rtr_max_vls", ConfUint32, "0", AffectsSLs, ""},
	{"qos_rtr_high_limit", ConfInt32, "-1", 0, ""},
	{"qos_rtr_vlarb_high", ConfString, "", 0, ""},
	{"qos_rtr_vlarb_low", ConfString, "", 0, ""},
	{"qos_rtr_sl2vl", ConfString, "", AffectsSLs, ""},
	{"congestion_control", ConfBool, "FALSE", 0, ""},
	{"cc_key", ConfUint64, "0x0000000000000000", 0, ""},
	{"cc_max_outstanding_mads", ConfUint32, "500", 0, ""},
	{"cc_sw_cong_setting_control_map", ConfUint32, "0", 0, ""},
	{"cc_sw_cong_setting_victim_mask", ConfMask, "0x0000000000000000000000000000000000000000000000000000000000000000", 0, ""},
	{"cc_sw_cong_setting_credit_mask", ConfMask, "0x0000000000000000000000000000000000000000000000000000000000000000", 0, ""},
	{"cc_sw_cong_setting_threshold", ConfUint8, "0", 0, ""},
	{"cc_sw_cong_setting_packet_size", ConfUint8, "0", 0, ""},
	{"cc_sw_cong_setting_credit_starvation_threshold", ConfUint8, "0", 0, ""},
	{"cc_sw_cong_setting_credit_starvation_return_delay", ConfText, "0:0", 0, ""},
	{"cc_sw_cong_setting_marking_rate", ConfUint16, "0", 0, ""},
	{"cc_ca_cong_setting_port_control", ConfUint16, "0", 0, ""},
	{"cc_ca_cong_setting_control_map", ConfUint16, "0", 0, ""},
	{"cc_ca_cong_setting_ccti_timer", ConfPerSL, "0 0", 0, ""},
	{"cc_ca_cong_setting_ccti_increase", ConfPerSL, "0 0", 0, ""},
	{"cc_ca_cong_setting_trigger_threshold", ConfPerSL, "0 0", 0, ""},
	{"cc_ca_cong_setting_ccti_min", ConfPerSL, "0 0", 0, ""},
	{"cc_cct", ConfText, "", 0, ""},
	{"enable_quirks", ConfBool, "FALSE", 0, ""},
	{"no_clients_rereg", ConfBool, "FALSE", 0, ""},
	{"prefix_routes_file", ConfString, "/etc/opensm/prefix-routes.conf", 0, ""},
	{"consolidate_ipv6_snm_req", ConfBool, "FALSE", AffectsMulticast, ""},
	{"lash_start_vl", ConfUint8, "0", AffectsRoutes | AffectsSLs, ""},
	{"sm_sl", ConfUint8, "0", AffectsSLs, ""},
	{"nue_max_num_vls", ConfUint8, "1", AffectsRoutes | AffectsSLs, ""},
	{"nue_include_switches", ConfBool, "FALSE", AffectsRoutes, ""},
	{"log_prefix", ConfString, "", 0, ""},
	{"per_module_logging_file", ConfString, "/etc/opensm/per-module-logging.conf", 0, ""},
	{"quasi_ftree_indexing", ConfBool, "FALSE", AffectsRoutes, ""},
}
