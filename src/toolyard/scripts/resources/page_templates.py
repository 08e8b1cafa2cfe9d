"""Our templates for MCP Apps pages: one frame, one small script each. Pure.

The page speaks the MCP Apps protocol with the host that shows it: JSON-RPC over postMessage.
"""

from __future__ import annotations

import html
from collections.abc import Mapping

from toolyard.protocol.call import JsonObject
from toolyard.scripts.contract.environ import compact

_FRAME = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; \
style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<h1>{title}</h1>
<p id="about">{about}</p>
<main id="main"></main>
<script type="application/json" id="config">{config}</script>
<script>{script}</script>
</body>
</html>
"""
_STYLE = """
:root{color-scheme:light dark;font:14px/1.5 system-ui,sans-serif}body{margin:1rem}
h1{font-size:1.15rem;margin:0 0 .5rem}#about:empty{display:none}label{display:block;margin:.6rem 0}
input,select,textarea,button{font:inherit;padding:.3rem .5rem}table{border-collapse:collapse}
td,th{border:1px solid #8886;padding:.25rem .6rem;text-align:left}pre{overflow:auto;margin:0}
.add{background:#2a82}.del{background:#c332}.board{display:flex;gap:1rem;align-items:flex-start}
.board section{flex:1;border:1px solid #8886;border-radius:.4rem;padding:.5rem}
.card{border:1px solid #8886;border-radius:.3rem;padding:.4rem;margin:.4rem 0}
progress{width:100%}
"""
# Shared by all: the channel to the host, and elements made without markup from strings.
_BASE = """
const config=JSON.parse(document.getElementById('config').textContent);
const main=document.getElementById('main');
let next=1;const waiting=new Map();
const send=m=>parent.postMessage({jsonrpc:'2.0',...m},'*');
const request=(method,params)=>new Promise((ok,no)=>{const id=next++;waiting.set(id,{ok,no});
send({id,method,params})});
const el=(tag,props={},...kids)=>{const e=Object.assign(document.createElement(tag),props);
for(const k of kids)e.append(k);return e};
const text=v=>typeof v==='string'?v:v===undefined||v===null?'':JSON.stringify(v);
const callTool=(name,args)=>request('tools/call',{name,arguments:args});
let show=()=>{};
addEventListener('message',e=>{const m=e.data;if(!m||m.jsonrpc!=='2.0')return;
if(m.id!==undefined&&waiting.has(m.id)){const w=waiting.get(m.id);waiting.delete(m.id);
m.error?w.no(new Error(m.error.message)):w.ok(m.result);return}
if(m.method==='ui/notifications/tool-result')show(m.params.structuredContent??m.params);
if(m.method==='ui/notifications/tool-input'&&m.params)show(m.params.arguments??m.params)});
const start=()=>request('ui/initialize',{protocolVersion:'2026-01-26',
appInfo:{name:document.title,version:'1'},appCapabilities:{}})
.then(()=>send({method:'ui/notifications/initialized'})).catch(()=>{});
"""
_SCRIPTS: Mapping[str, str] = {
    "form": """
const form=el('form');const fields=config.fields??[];
for(const f of fields){const name=f.name;let input;
if(f.type==='select'||f.options){input=el('select',{name});
for(const o of f.options??[])input.append(el('option',{value:o.value??o},text(o.label??o)))}
else if(f.type==='textarea')input=el('textarea',{name,rows:f.rows??4});
else input=el('input',{name,type:f.type??'text'});
if(f.type==='checkbox')input.checked=!!f.default;
else if(f.default!==undefined)input.value=f.default;
input.required=!!f.required;if(f.placeholder)input.placeholder=f.placeholder;
form.append(el('label',{},(f.label??name)+' ',input))}
const status=el('p');form.append(el('button',{type:'submit'},config.submitLabel??'Submit'));
form.onsubmit=e=>{e.preventDefault();const args={};
for(const f of fields){const i=form.elements[f.name];
args[f.name]=f.type==='checkbox'?i.checked:f.type==='number'?Number(i.value):i.value}
const name=config.submitTool??config.tool;if(!name)return;
callTool(name,args).then(()=>status.textContent=config.successMessage??'Done',
x=>status.textContent=x.message)};
main.append(form,status);
""",
    "data-table": """
const table=el('table');main.append(table);
show=data=>{const rows=Array.isArray(data)?data:data.rows??data.items??config.rows??[];
const columns=(config.columns??Object.keys(rows[0]??{})).map(c=>typeof c==='string'?{key:c}:c);
table.replaceChildren(el('thead',{},el('tr',{},...columns.map(c=>el('th',{},text(c.label??c.key))))),
el('tbody',{},...rows.map(r=>el('tr',{},...columns.map(c=>el('td',{},text(r[c.key])))))))};
show(config.rows??[]);
""",
    "progress": """
const bar=el('progress',{max:config.total??100,value:config.value??0});
const line=el('p',{},config.message??'');main.append(bar,line);
show=d=>{if(d.total)bar.max=d.total;const v=d.progress??d.value;if(v!==undefined)bar.value=v;
if(d.message)line.textContent=d.message};
if(config.cancelTool)main.append(el('button',{onclick:()=>callTool(config.cancelTool,{})},'Cancel'));
""",
    "diff-viewer": """
const view=el('pre');main.append(view);
const lines=d=>typeof d==='string'?d.split('\\n'):d.diff?d.diff.split('\\n'):pairs(d);
const pairs=d=>{const a=text(d.before??d.old).split('\\n'),b=text(d.after??d.new).split('\\n');
return [...a.filter(x=>!b.includes(x)).map(x=>'-'+x),...b.map(x=>(a.includes(x)?' ':'+')+x)]};
show=d=>view.replaceChildren(...lines(d).map(l=>el('div',
{className:l[0]==='+'?'add':l[0]==='-'?'del':''},l||' ')));
show(config);
""",
    "tree-view": """
const node=n=>{const kids=n.children??[];const name=text(n.label??n.name??n);
if(!kids.length)return el('li',{},name);
return el('li',{},el('details',{open:!!config.expandAll},el('summary',{},name),
el('ul',{},...kids.map(node))))};
show=d=>main.replaceChildren(el('ul',{},...(Array.isArray(d)?d:d.nodes??d.children??[d]).map(node)));
show(config.nodes??[]);
""",
    "kanban": """
show=d=>{const columns=d.columns??config.columns??[];const cards=d.cards??d.items??[];
main.replaceChildren(el('div',{className:'board'},...columns.map(c=>{const id=c.id??c;
const own=c.cards??cards.filter(x=>(x.column??x.status)===id);
return el('section',{},el('h2',{},text(c.title??c.label??c)),...own.map(x=>
el('div',{className:'card'},text(x.title??x))))})))};
show(config);
""",
}


def page_of(template: str, config: JsonObject) -> str:
    title = config.get("title")
    about = config.get("description")
    return _FRAME.format(
        title=html.escape(title if isinstance(title, str) else template),
        about=html.escape(about if isinstance(about, str) else ""),
        style=_STYLE,
        # `<` cannot end the element that the JSON stands in.
        config=compact(config).decode().replace("<", "\\u003c"),
        script=_BASE + _SCRIPTS[template] + "start();",
    )
