"use strict";
for(const svg of document.querySelectorAll("svg.zoom")){
const figure=svg.closest("figure"),name=figure.querySelector(".title").textContent;
const whole=svg.getAttribute("viewBox").split(" ").map(Number);let view=whole.slice();
const show=()=>svg.setAttribute("viewBox",view.join(" "));
const keep=()=>{for(const i of[0,1]){const end=whole[i]+whole[i+2]-view[i+2];view[i]=Math.min(Math.max(view[i],whole[i]),end)}};
const zoom=(by,x=.5,y=.5)=>{const wide=Math.min(Math.max(view[2]*by,whole[2]/16),whole[2]),tall=wide*whole[3]/whole[2];
view=[view[0]+(view[2]-wide)*x,view[1]+(view[3]-tall)*y,wide,tall];keep();show()};
const tools=document.createElement("div");tools.className="tools";
const button=(sign,words,does)=>{const b=document.createElement("button");b.type="button";b.textContent=sign;b.title=words;b.setAttribute("aria-label",words+": "+name);b.onclick=does;tools.append(b)};
button("+","zoom in",()=>zoom(.6));button("\u2212","zoom out",()=>zoom(1/.6));
button("1:1","whole picture",()=>{view=whole.slice();show()});
button("wide","larger or smaller",()=>figure.classList.toggle("wide"));
svg.before(tools);
svg.addEventListener("wheel",e=>{if(!e.ctrlKey)return;e.preventDefault();const r=svg.getBoundingClientRect();zoom(e.deltaY<0?.8:1.25,(e.clientX-r.left)/r.width,(e.clientY-r.top)/r.height)},{passive:false});
svg.addEventListener("dblclick",e=>{const r=svg.getBoundingClientRect();zoom(.5,(e.clientX-r.left)/r.width,(e.clientY-r.top)/r.height)});
let from=null;
svg.addEventListener("pointerdown",e=>{if(view[2]<whole[2]){from=[e.clientX,e.clientY];svg.setPointerCapture(e.pointerId)}});
svg.addEventListener("pointermove",e=>{if(!from)return;const r=svg.getBoundingClientRect();view[0]-=(e.clientX-from[0])*view[2]/r.width;view[1]-=(e.clientY-from[1])*view[3]/r.height;from=[e.clientX,e.clientY];keep();show()});
svg.addEventListener("pointerup",()=>{from=null});
}
document.documentElement.dataset.zoom="ready";
